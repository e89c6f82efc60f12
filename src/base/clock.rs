//! Time, handed in: no other file asks the machine what time it is.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since the Unix epoch; written as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    pub fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub fn millis(self) -> u64 {
        self.0
    }

    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let system = UNIX_EPOCH + Duration::from_millis(self.0);
        write!(f, "{}", humantime::format_rfc3339_millis(system))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let system = humantime::parse_rfc3339(&text).map_err(de::Error::custom)?;
        let since = system.duration_since(UNIX_EPOCH).map_err(de::Error::custom)?;
        Ok(Self(u64::try_from(since.as_millis()).map_err(de::Error::custom)?))
    }
}

pub trait Clock: Send + Sync {
    fn now(&self) -> Time;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Goes on by one millisecond whenever it is asked: same questions, same answers.
#[derive(Debug, Default)]
pub struct FixedClock(AtomicU64);

impl FixedClock {
    pub fn starting_at(time: Time) -> Self {
        Self(AtomicU64::new(time.0))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Time {
        Time(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Does not go on at all: what is written under it is the same, however often it is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct StillClock(pub Time);

impl Clock for StillClock {
    fn now(&self) -> Time {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_survives_being_written() {
        let time = Time::from_millis(1_764_547_200_123);
        let text = serde_json::to_string(&time).unwrap();
        assert_eq!(text, "\"2025-12-01T00:00:00.123Z\"");
        assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), time);
    }
}
