//! Captures that are read.

use std::fs::File;
use std::io::{Chain, Cursor, Read};
use std::path::Path;

use pcap_file::pcap::{PcapHeader, PcapReader};
use pcap_file::{DataLink, PcapError, TsResolution};

use crate::failure::Failure;

const PCAPNG: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];

/// A capture of Ethernet frames.
pub struct Capture {
    file: String,
    reader: PcapReader<Chain<Cursor<Vec<u8>>, File>>,
    header: PcapHeader,
    frames: u64,
}

/// A frame and when it was captured.
pub struct Captured {
    pub frame: Vec<u8>,
    /// Seconds, and millionths or billionths of one, as the file counts them.
    pub time: (u32, u32),
    /// Since the epoch.
    pub micros: u64,
    /// The capture has only the frame's beginning.
    pub cut: bool,
}

impl Capture {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = path.display().to_string();
        let source = File::open(path).map_err(Failure::file(path))?;
        // Put back by hand, since a pipe is read only once.
        let mut start = Vec::new();
        (&source).take(PCAPNG.len() as u64).read_to_end(&mut start).map_err(Failure::file(path))?;
        if start == PCAPNG {
            return Err(Failure::PcapNg { file });
        }
        let reader = PcapReader::new(Cursor::new(start).chain(source))
            .map_err(|error| Failure::NotPcap { file: file.clone(), reason: explained(&error) })?;
        let header = reader.header();
        if header.datalink != DataLink::ETHERNET {
            return Err(Failure::LinkType { file, got: format!("{:?}", header.datalink) });
        }
        Ok(Self { file, reader, header, frames: 0 })
    }

    /// A header for what is written about these frames.
    pub const fn header(&self) -> PcapHeader {
        self.header
    }

    /// The next frame, or nothing at the end. Frames are numbered from 1, as Wireshark does.
    pub fn next(&mut self) -> Result<Option<Captured>, Failure> {
        self.frames += 1;
        let packet = match self.reader.next_raw_packet() {
            None => return Ok(None),
            Some(Ok(packet)) => packet,
            Some(Err(error)) => {
                let (file, frame) = (self.file.clone(), self.frames);
                return Err(Failure::Frame { file, frame, reason: explained(&error) });
            }
        };
        let micros = if self.header.ts_resolution == TsResolution::NanoSecond { 1_000 } else { 1 };
        Ok(Some(Captured {
            time: (packet.ts_sec, packet.ts_frac),
            micros: u64::from(packet.ts_sec) * 1_000_000 + u64::from(packet.ts_frac / micros),
            cut: packet.incl_len < packet.orig_len,
            frame: packet.data.into_owned(),
        }))
    }
}

impl Captured {
    /// A frame that was made, not captured; `micros` since the epoch.
    pub fn made(frame: Vec<u8>, micros: u64) -> Self {
        let time = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
        Self { frame, time, micros, cut: false }
    }
}

fn explained(error: &PcapError) -> String {
    match error {
        PcapError::IoError(source) => source.to_string(),
        PcapError::IncompleteBuffer => "it ends early".to_owned(),
        other => other.to_string(),
    }
}
