//! Durations of a period as bytes, and percentiles of the durations of many periods.
//!
//! Durations are whole seconds. Of a sorted list only the differences are stored, in blocks of numbers of 1, 2, 4 or 8
//! bytes, so that most durations of a busy period take one or two bytes and a loop without branches reads them. A
//! percentile is found by counting: the lists are walked two or three times, and are never held as numbers.

use sea_orm::DbErr;

use super::PERIOD;
use crate::deploy::metrics::Percentiles;

/// The number of durations in a block. The last block of a list can have fewer.
const BLOCK: usize = 64;

/// The length of a period in seconds.
pub const PERIOD_SECONDS: u64 = PERIOD.unsigned_abs() / 1_000_000;

/// Encodes durations. Sorts them.
///
/// The encoding is their number in four bytes, and blocks: a byte that says how long each number is (0 to 3: 1, 2, 4 or 8
/// bytes), and the differences, the lowest byte first. No durations are no bytes.
pub fn write(durations: &mut [u64]) -> Result<Vec<u8>, DbErr> {
    durations.sort_unstable();
    let mut bytes = Vec::with_capacity(2 * durations.len());
    if !durations.is_empty() {
        let count = u32::try_from(durations.len());
        let count = count.map_err(|_| DbErr::Custom("a period has too many deploys for figures".to_owned()))?;
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
pub fn read(bytes: &[u8], mut each: impl FnMut(u64)) -> Result<(), DbErr> {
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

fn damaged() -> DbErr {
    DbErr::Custom("the figures of a period are damaged".to_owned())
}

/// Durations in seconds that can be walked several times.
pub trait Walk {
    /// Calls `each` with every duration.
    fn walk(&self, each: impl FnMut(u64)) -> Result<(), DbErr>;
}

/// The high bits of a duration that the first walk tells apart: 9, and how many bits follow.
const HIGH: u32 = 8;
/// How many of the remaining bits another walk tells apart.
const LOW: u32 = 12;

/// Returns the place of a duration among the counts of the first walk. Larger durations have larger places.
#[inline]
fn place(duration: u64) -> usize {
    let shift = (u64::BITS - 1 - (duration | 1).leading_zeros()).saturating_sub(HIGH);
    ((shift as usize) << HIGH) + (duration >> shift) as usize
}

/// The durations that can be the percentile: from `low`, as many as `bits` bits tell apart.
struct Target {
    low: u64,
    bits: u32,
    /// How many of them precede it.
    rank: u64,
}

impl Target {
    /// Finds the place of the duration with this rank among counted ones.
    fn of_rank(counts: &[u64], rank: u64) -> Result<(usize, u64), DbErr> {
        let mut rank = rank;
        for (place, count) in counts.iter().enumerate() {
            match rank.checked_sub(*count) {
                Some(rest) => rank = rest,
                None => return Ok((place, rank)),
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

/// Returns the percentiles by nearest rank; `None` without durations.
pub fn percentiles(durations: &impl Walk) -> Result<Option<Percentiles>, DbErr> {
    let mut counts = vec![0_u64; place(u64::MAX) + 1];
    let mut count = 0_u64;
    durations.walk(|duration| {
        count += 1;
        counts[place(duration)] += 1;
    })?;
    if count == 0 {
        return Ok(None);
    }
    let target = |hundredths: u64| {
        let rank = (count * hundredths).div_ceil(100) - 1;
        Ok::<_, DbErr>(Target::at(Target::of_rank(&counts, rank)?))
    };
    let mut targets = [target(50)?, target(90)?];
    while targets.iter().any(|target| target.bits > 0) {
        let mut counts = [[0_u64; 1 << LOW]; 2];
        let shifts = [0, 1].map(|one| u64::from(targets[one].bits.saturating_sub(LOW)));
        let ends = [0, 1].map(|one| 1_u64 << targets[one].bits);
        durations.walk(|duration| {
            for one in 0..2 {
                let place = duration.wrapping_sub(targets[one].low);
                if place < ends[one] {
                    counts[one][(place >> shifts[one]) as usize] += 1;
                }
            }
        })?;
        for ((target, counts), shift) in targets.iter_mut().zip(&counts).zip(shifts) {
            let (place, rank) = Target::of_rank(counts, target.rank)?;
            *target = Target { low: target.low + ((place as u64) << shift), bits: shift as u32, rank };
        }
    }
    let number = |number: u64| i64::try_from(number).map_err(|_| damaged());
    let [median, percentile90] = targets;
    Ok(Some(Percentiles {
        count: number(count)?,
        median: number(median.low)?,
        percentile90: number(percentile90.low)?,
    }))
}
