//! Durations of a period as bytes, and percentiles of the durations of many periods.
//!
//! Durations are whole seconds. Of a sorted list only the differences are stored, in blocks of numbers of 1, 2, 4 or 8
//! bytes, so that most durations of a busy period take one or two bytes and a loop without branches reads them. A
//! percentile is found by counting, in one round or a few ([`Round`]). Each round takes all durations, in any order, and
//! holds none.

use super::PERIOD;
use crate::db;
use crate::deploy::metrics::Percentiles;

/// The number of durations in a block. The last block of a list can have fewer.
const BLOCK: usize = 64;

/// The length of a period in seconds.
pub const PERIOD_SECONDS: u64 = PERIOD.unsigned_abs() / 1_000_000;

/// Encodes durations. Sorts them.
///
/// The encoding is their number in four bytes, and blocks: a byte that says how long each number is (0 to 3: 1, 2, 4 or 8
/// bytes), and the differences, the lowest byte first. No durations are no bytes.
pub fn write(durations: &mut [u64]) -> Result<Vec<u8>, db::Error> {
    durations.sort_unstable();
    let mut bytes = Vec::with_capacity(2 * durations.len());
    if !durations.is_empty() {
        let count = u32::try_from(durations.len());
        let count = count.map_err(|_| db::Error::fault("a period has too many deploys for figures"))?;
        bytes.extend(count.to_le_bytes());
    }
    let mut last = 0;
    for block in durations.chunks(BLOCK) {
        let mut differences = [0_u64; BLOCK];
        for (difference, duration) in differences.iter_mut().zip(block) {
            *difference = *duration - last;
            last = *duration;
        }
        let differences = &differences[..block.len()];
        let width = match differences.iter().max() {
            Some(0..0x100) | None => 0,
            Some(0..0x1_0000) => 1,
            Some(0..0x1_0000_0000) => 2,
            Some(_) => 3,
        };
        bytes.push(width);
        for difference in differences {
            bytes.extend(&difference.to_le_bytes()[..1 << width]);
        }
    }
    Ok(bytes)
}

/// Calls `each` with every duration that [`write`] has encoded.
#[inline]
pub fn read(bytes: &[u8], mut each: impl FnMut(u64)) -> Result<(), db::Error> {
    if bytes.is_empty() {
        return Ok(());
    }
    let (count, mut bytes) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let (mut left, mut last) = (u32::from_le_bytes(*count) as usize, 0_u64);
    let mut next = |difference: u64| {
        last = last.wrapping_add(difference);
        each(last);
    };
    while left > 0 {
        let count = left.min(BLOCK);
        let (width, rest) = bytes.split_first().filter(|(width, _)| **width <= 3).ok_or_else(damaged)?;
        let (block, rest) = rest.split_at_checked(count << width).ok_or_else(damaged)?;
        match width {
            0 => block.iter().for_each(|byte| next(u64::from(*byte))),
            1 => block.as_chunks().0.iter().for_each(|number| next(u64::from(u16::from_le_bytes(*number)))),
            2 => block.as_chunks().0.iter().for_each(|number| next(u64::from(u32::from_le_bytes(*number)))),
            _ => block.as_chunks().0.iter().for_each(|number| next(u64::from_le_bytes(*number))),
        }
        (left, bytes) = (left - count, rest);
    }
    Ok(())
}

/// Converts the recovery time of a failed deploy to a number for [`write`], which also says by how many periods that of the
/// failure precedes that of the success. That is the number of whole periods of the recovery time, or one more.
pub fn recovery(duration: u64, periods: u64) -> u64 {
    2 * duration + u64::from(periods > duration / PERIOD_SECONDS)
}

/// Returns the recovery time, and the number of periods, from a number of [`recovery`].
#[inline]
pub fn duration_and_periods(recovery: u64) -> (u64, u64) {
    let duration = recovery >> 1;
    (duration, duration / PERIOD_SECONDS + (recovery & 1))
}

fn damaged() -> db::Error {
    db::Error::fault("the figures of a period are damaged")
}

/// The first round of a search in [short durations](Search::of_short) counts those below this number of seconds, 3 days,
/// one by one.
const EXACT: usize = 1 << 18;
/// The high bits of a longer duration that the first round tells apart: 11, and how many bits follow.
const HIGH: u32 = 10;
/// How many of the remaining bits another round tells apart.
const LOW: u32 = 12;
/// How many durations are cheaper to sort in part than to count: counting begins with 1.5 MiB of zeros.
const FEW: usize = 1 << 15;

/// Returns the place of a duration among the counts of long ones. Larger durations have larger places.
#[inline]
fn place(duration: u64) -> usize {
    let shift = (u64::BITS - 1 - (duration | 1).leading_zeros()).saturating_sub(HIGH);
    ((shift as usize) << HIGH) + (duration >> shift) as usize
}

/// The durations that can be the percentile: from `low`, as many as `bits` bits tell apart.
#[derive(Debug, Clone)]
struct Target {
    low: u64,
    bits: u32,
    /// How many of them precede it.
    rank: u64,
}

impl Target {
    /// Finds the place of the duration with this rank among counted ones, and its rank among those of its place.
    fn of_rank<C: Copy + Into<u64>>(counts: &[C], rank: u64) -> Result<(usize, u64), db::Error> {
        // Sums of many counts are quick.
        const MANY: usize = 1 << 10;
        let mut rank = rank;
        for (chunk, many) in counts.chunks(MANY).enumerate() {
            let sum = many.iter().map(|count| (*count).into()).sum::<u64>();
            if let Some(rest) = rank.checked_sub(sum) {
                rank = rest;
                continue;
            }
            for (place, count) in many.iter().enumerate() {
                match rank.checked_sub((*count).into()) {
                    Some(rest) => rank = rest,
                    None => return Ok((chunk * MANY + place, rank)),
                }
            }
        }
        Err(damaged())
    }

    /// Converts a [`place`].
    fn at((place, rank): (usize, u64)) -> Self {
        let bits = (place as u32 >> HIGH).saturating_sub(1);
        Self { low: (place as u64 - (u64::from(bits) << HIGH)) << bits, bits, rank }
    }
}

/// A search for the percentiles of durations, between two rounds.
#[derive(Debug, Clone)]
pub struct Search(Step);

#[derive(Debug, Clone)]
enum Step {
    /// Like `First`, unless there are few durations.
    Few { exact: usize },
    First {
        /// How many durations are counted one by one.
        exact: usize,
    },
    Next {
        /// The number of all durations.
        count: u64,
        targets: [Target; 2],
    },
}

impl Search {
    /// Begins to search in durations of which most are short. If the percentiles are short too, one round finds them.
    pub fn of_short() -> Self {
        Self(Step::First { exact: EXACT })
    }

    /// Begins to search in durations of which most are long, which takes two rounds or more.
    pub fn of_long() -> Self {
        Self(Step::First { exact: 0 })
    }

    /// If there are few durations, its only round holds them, up to 256 KiB, and counts none. Otherwise it holds these until
    /// it counts them too.
    pub fn unless_few(self) -> Self {
        Self(match self.0 {
            Step::First { exact } => Step::Few { exact },
            begun => begun,
        })
    }

    /// Begins the next round, which takes all durations. Memory: up to 1.5 MiB.
    pub fn round(&self) -> Round {
        Round(match &self.0 {
            Step::Few { exact } => RoundState::Few { exact: *exact, durations: Vec::new() },
            Step::First { exact } => RoundState::first(*exact),
            Step::Next { count, targets } => {
                RoundState::Next { count: *count, targets: targets.clone(), counts: Box::new([[0; 1 << LOW]; 2]) }
            }
        })
    }
}

/// Counts durations in seconds.
#[derive(Debug)]
pub struct Round(RoundState);

#[derive(Debug)]
enum RoundState {
    Few {
        /// How many durations are counted one by one if there are many.
        exact: usize,
        durations: Vec<u64>,
    },
    First {
        /// By the duration.
        exact: Vec<u32>,
        /// By the [`place`] of longer durations.
        long: Vec<u64>,
    },
    Next {
        count: u64,
        targets: [Target; 2],
        /// For each target, by the next bits of the durations that can be the percentile.
        counts: Box<[[u64; 1 << LOW]; 2]>,
    },
}

impl RoundState {
    fn first(exact: usize) -> Self {
        Self::First { exact: vec![0; exact], long: vec![0; place(u64::MAX) + 1] }
    }
}

/// What a round has found.
#[derive(Debug)]
pub enum Ended {
    /// The percentiles by nearest rank; `None` without durations.
    Found(Option<Percentiles>),
    /// Another round is necessary: a percentile is a long duration.
    Again(Search),
}

impl Round {
    /// Counts a duration.
    #[inline]
    pub fn add(&mut self, duration: u64) {
        match &mut self.0 {
            RoundState::Few { durations, .. } if durations.len() < FEW => durations.push(duration),
            RoundState::Few { .. } => self.add_to_many(duration),
            RoundState::First { exact, long } => match exact.get_mut(duration as usize) {
                Some(count) => *count += 1,
                None => long[place(duration)] += 1,
            },
            RoundState::Next { targets, counts, .. } => {
                for (target, counts) in targets.iter().zip(counts.iter_mut()) {
                    let place = duration.wrapping_sub(target.low);
                    if place < 1 << target.bits {
                        counts[(place >> target.bits.saturating_sub(LOW)) as usize] += 1;
                    }
                }
            }
        }
    }

    /// Counts a duration after as many as are few, and these.
    #[cold]
    fn add_to_many(&mut self, duration: u64) {
        if let RoundState::Few { exact, durations } = &mut self.0 {
            let (exact, few) = (*exact, std::mem::take(durations));
            self.0 = RoundState::first(exact);
            few.into_iter().for_each(|duration| self.add(duration));
        }
        self.add(duration);
    }

    /// Ends the round, after all durations.
    pub fn end(self) -> Result<Ended, db::Error> {
        let (count, targets) = match self.0 {
            RoundState::Few { durations, .. } => match of_few(durations) {
                Some(found) => found,
                None => return Ok(Ended::Found(None)),
            },
            RoundState::First { exact, long } => {
                let below = exact.iter().copied().map(u64::from).sum::<u64>();
                let count = below + long.iter().sum::<u64>();
                if count == 0 {
                    return Ok(Ended::Found(None));
                }
                let target = |hundredths: u64| {
                    let rank = (count * hundredths).div_ceil(100) - 1;
                    match rank.checked_sub(below) {
                        Some(rank) => Target::of_rank(&long, rank).map(Target::at),
                        None => {
                            let (duration, _) = Target::of_rank(&exact, rank)?;
                            Ok(Target { low: duration as u64, bits: 0, rank: 0 })
                        }
                    }
                };
                (count, [target(50)?, target(90)?])
            }
            RoundState::Next { count, mut targets, counts } => {
                for (target, counts) in targets.iter_mut().zip(counts.iter()) {
                    let (place, rank) = Target::of_rank(counts, target.rank)?;
                    let bits = target.bits.saturating_sub(LOW);
                    *target = Target { low: target.low + ((place as u64) << bits), bits, rank };
                }
                (count, targets)
            }
        };
        if targets.iter().any(|target| target.bits > 0) {
            return Ok(Ended::Again(Search(Step::Next { count, targets })));
        }
        let number = |number: u64| i64::try_from(number).map_err(|_| damaged());
        let [median, percentile90] = targets;
        Ok(Ended::Found(Some(Percentiles {
            count: number(count)?,
            median: number(median.low)?,
            percentile90: number(percentile90.low)?,
        })))
    }
}

/// The number of durations, and the percentiles. `None` without durations.
fn of_few(mut durations: Vec<u64>) -> Option<(u64, [Target; 2])> {
    let count = durations.len() as u64;
    if count == 0 {
        return None;
    }
    let mut target = |hundredths: u64| {
        let rank = (count * hundredths).div_ceil(100) - 1;
        let (_, duration, _) = durations.select_nth_unstable(rank as usize);
        Target { low: *duration, bits: 0, rank: 0 }
    };
    Some((count, [target(50), target(90)]))
}
