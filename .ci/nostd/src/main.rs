//! Links every library into a program that has no standard library, and does nothing.
#![no_std]
#![no_main]

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use nostd as _;

// The start-up code of the C library calls `main`; nothing else is taken from it.
#[link(name = "c")]
unsafe extern "C" {}

struct Nothing;

// SAFETY: a null pointer is how `alloc` says that there is no memory, and so nothing is ever given back.
unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Nothing = Nothing;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

// The compiled `alloc` names the routine that std would bring for unwinding; with `panic = "abort"` it is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    0
}
