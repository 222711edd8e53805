//! The configuration file: TOML. Every error names the file, the line, the field and what would be valid.
//!
//! ```toml
#![doc = include_str!("../balancer.toml")]
//! ```

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::path::Path;

use charon_model::feedback::Feedback;
use charon_model::ip_table::Row;
use charon_model::params::{Params, RawParams};
use charon_model::pipeline::{Addresses, Config, NewFlows, NextHop, Pipeline};
use charon_model::timestamp::Layout;
use serde::Deserialize;
use toml::Spanned;

const MAX_FILE_BYTES: u64 = 1 << 20;

/// Why a configuration was refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{file}: {source}")]
    Unreadable { file: String, source: std::io::Error },
    #[error("{file}: longer than a configuration's {MAX_FILE_BYTES} bytes")]
    TooLong { file: String },
    /// Not TOML, an unknown or missing field, or a value of the wrong type; the parser's message quotes the line.
    #[error("{file}: {message}")]
    Malformed { file: String, message: String },
    #[error("{file}:{line}: {field} = {got} is not valid: {valid}")]
    Invalid { file: String, line: usize, field: String, got: String, valid: String },
    /// What is wrong with the whole, not with one line.
    #[error("{file}: {message}")]
    Together { file: String, message: String },
}

/// The balancer that a file describes.
pub struct Balancer {
    pub params: Params,
    pub pipeline: Pipeline,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default = "paper_servers")]
    servers: u16,
    #[serde(default = "paper_id_bits")]
    id_bits: u8,
    timestamp: Option<Spanned<String>>,
    new_flows: Option<Spanned<String>>,
    feedback: Option<Spanned<String>>,
    mac: Spanned<String>,
    service: FileAddresses,
    tunnel: FileAddresses,
    uplink: FileHop,
    #[serde(default)]
    server: Vec<FileServer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileAddresses {
    v4: Option<Spanned<String>>,
    v6: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHop {
    port: u16,
    mac: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileServer {
    id: Spanned<u8>,
    #[serde(default = "one")]
    weight: u32,
    port: u16,
    mac: Spanned<String>,
    v4: Option<Spanned<String>>,
    v6: Option<Spanned<String>>,
}

const fn paper_servers() -> u16 {
    RawParams::paper().servers
}

const fn paper_id_bits() -> u8 {
    RawParams::paper().id_bits
}

const fn one() -> u32 {
    1
}

impl Balancer {
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let unreadable = |source| ConfigError::Unreadable { file: file.clone(), source };
        let mut text = String::new();
        let mut reader = std::fs::File::open(path).map_err(unreadable)?.take(MAX_FILE_BYTES + 1);
        reader.read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(ConfigError::TooLong { file });
        }
        Self::parse(&file, &text)
    }

    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        let raw: File = toml::from_str(text)
            .map_err(|error| ConfigError::Malformed { file: file.to_owned(), message: error.to_string() })?;
        let check = Checker { file, text };
        let mut params = RawParams::paper();
        (params.servers, params.id_bits) = (raw.servers, raw.id_bits);
        let params = Params::new(params).map_err(|error| check.together(&error))?;
        let mut pipeline = Pipeline::new(&params, check.config(&raw)?).map_err(|error| check.together(&error))?;
        let mut weights = vec![0; usize::from(raw.servers)];
        for server in &raw.server {
            check.server(server, &mut pipeline, &mut weights)?;
        }
        pipeline.tables_mut().alias.replace(&weights).map_err(|error| check.together(&error))?;
        Ok(Self { params, pipeline })
    }
}

/// The text, for the lines of errors.
struct Checker<'a> {
    file: &'a str,
    text: &'a str,
}

impl Checker<'_> {
    fn config(&self, raw: &File) -> Result<Config, ConfigError> {
        let uplink = NextHop { port: raw.uplink.port, mac: self.mac("uplink.mac", &raw.uplink.mac)? };
        let (service, tunnel) = (self.addresses("service", &raw.service)?, self.addresses("tunnel", &raw.tunnel)?);
        if tunnel == Addresses::default() {
            let message = "no tunnel address, so no report could come in: expected v4, v6, or both".to_owned();
            return Err(ConfigError::Together { file: self.file.to_owned(), message });
        }
        let mut config = Config::new(service, tunnel, self.mac("mac", &raw.mac)?, uplink);
        if let Some(name) = &raw.timestamp {
            let valid = [("low-bits", Layout::LowBits), ("high-bits", Layout::HighBits)];
            config.layout = self.choice("timestamp", name, &valid)?;
        }
        if let Some(name) = &raw.new_flows {
            let valid = [("scores", NewFlows::Scores), ("sticky", NewFlows::Sticky)];
            config.new_flows = self.choice("new-flows", name, &valid)?;
        }
        if let Some(name) = &raw.feedback {
            let valid = [("overwrite", Feedback::Overwrite), ("keep-in-flight", Feedback::KeepInFlight)];
            config.feedback = self.choice("feedback", name, &valid)?;
        }
        Ok(config)
    }

    fn server(&self, raw: &FileServer, pipeline: &mut Pipeline, weights: &mut [u32]) -> Result<(), ConfigError> {
        let id = *raw.id.get_ref();
        let servers = weights.len();
        let Some(weight) = weights.get_mut(usize::from(id)) else {
            return Err(self.invalid("server.id", &raw.id.span(), id, format!("expected 0 to {}", servers - 1)));
        };
        let mac = self.mac("server.mac", &raw.mac)?;
        let Addresses { v4, v6 } = self.pair("server", raw.v4.as_ref(), raw.v6.as_ref())?;
        let given =
            [("server.v4", v4.map(IpAddr::V4), raw.v4.as_ref()), ("server.v6", v6.map(IpAddr::V6), raw.v6.as_ref())];
        let mut added = 0;
        for (field, address, text) in given {
            let (Some(address), Some(text)) = (address, text) else { continue };
            if let Some(owner) = owner(pipeline, address) {
                return Err(self.quoted(field, text, format!("this is {owner}: expected an address of its own")));
            }
            let row = Row { address, mac, port: raw.port };
            pipeline.tables_mut().add(id, row).map_err(|error| {
                self.invalid("server.id", &raw.id.span(), id, format!("{error}; expected each id once"))
            })?;
            added += 1;
        }
        if added == 0 {
            let valid = "this server has no address: expected v4, v6, or both".to_owned();
            return Err(self.invalid("server.id", &raw.id.span(), id, valid));
        }
        *weight = raw.weight;
        Ok(())
    }

    fn addresses(&self, field: &str, raw: &FileAddresses) -> Result<Addresses, ConfigError> {
        self.pair(field, raw.v4.as_ref(), raw.v6.as_ref())
    }

    fn pair(
        &self,
        field: &str,
        v4: Option<&Spanned<String>>,
        v6: Option<&Spanned<String>>,
    ) -> Result<Addresses, ConfigError> {
        let v4 = v4.map(|raw| {
            let valid = "expected the IPv4 address of one host, such as \"203.0.113.1\"".to_owned();
            let address = raw.get_ref().parse().ok().filter(|address| is_hosts(Ipv4Addr::into(*address)));
            address.ok_or_else(|| self.quoted(&format!("{field}.v4"), raw, valid))
        });
        let v6 = v6.map(|raw| {
            let valid = "expected the IPv6 address of one host, such as \"2001:db8::1\"".to_owned();
            let address = raw.get_ref().parse().ok().filter(|address| is_hosts(Ipv6Addr::into(*address)));
            address.ok_or_else(|| self.quoted(&format!("{field}.v6"), raw, valid))
        });
        Ok(Addresses { v4: v4.transpose()?, v6: v6.transpose()? })
    }

    fn mac(&self, field: &str, raw: &Spanned<String>) -> Result<[u8; 6], ConfigError> {
        let bytes: Option<Vec<u8>> = raw
            .get_ref()
            .split(':')
            .map(|byte| {
                // `from_str_radix` takes a sign.
                let digits = byte.len() == 2 && byte.bytes().all(|digit| digit.is_ascii_hexdigit());
                if digits { u8::from_str_radix(byte, 16).ok() } else { None }
            })
            .collect();
        let mac: Option<[u8; 6]> = bytes.and_then(|bytes| bytes.try_into().ok());
        let Some(mac) = mac else {
            return Err(self.quoted(field, raw, "expected six bytes such as \"02:00:00:00:00:01\"".to_owned()));
        };
        // The group bit of IEEE 802: every port would get the frame.
        if mac[0] & 1 == 1 {
            return Err(self.quoted(
                field,
                raw,
                "a group's address: expected one station's, of an even first byte".into(),
            ));
        }
        Ok(mac)
    }

    fn choice<T: Copy>(&self, field: &str, raw: &Spanned<String>, valid: &[(&str, T)]) -> Result<T, ConfigError> {
        let found = valid.iter().find(|(name, _)| name == raw.get_ref());
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<String> = valid.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.quoted(field, raw, format!("expected {}", names.join(" or ")))
        })
    }

    fn quoted(&self, field: &str, raw: &Spanned<String>, valid: String) -> ConfigError {
        self.invalid(field, &raw.span(), format_args!("{:?}", raw.get_ref()), valid)
    }

    fn invalid(&self, field: &str, span: &Range<usize>, got: impl ToString, valid: String) -> ConfigError {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        ConfigError::Invalid { file: self.file.to_owned(), line, field: field.to_owned(), got: got.to_string(), valid }
    }

    fn together(&self, error: &dyn std::error::Error) -> ConfigError {
        ConfigError::Together { file: self.file.to_owned(), message: error.to_string() }
    }
}

/// One host can have the address: not nobody's, a group's, or everybody's.
const fn is_hosts(address: IpAddr) -> bool {
    let everybodys = matches!(address, IpAddr::V4(Ipv4Addr::BROADCAST));
    !address.is_unspecified() && !address.is_multicast() && !everybodys
}

/// Whose address this is already. Frames to a server with one of the balancer's addresses would come back for ever, and a
/// report of two servers with one address does not say whose it is.
fn owner(pipeline: &Pipeline, address: IpAddr) -> Option<String> {
    if pipeline.config().service.has(address) {
        return Some("the service's".to_owned());
    }
    if pipeline.config().tunnel.has(address) {
        return Some("the tunnel's".to_owned());
    }
    let rows = pipeline.tables().ip(address);
    let id = rows.ids().find(|id| rows.get(*id).is_some_and(|row| row.address == address))?;
    Some(format!("server {id}'s"))
}

#[cfg(test)]
mod tests;
