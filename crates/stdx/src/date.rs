//! Days of the Gregorian calendar, without a time zone.

/// Days from 1970-01-01 to a date of the Gregorian calendar, months and days counted from 1; before 1970 there are fewer than none.
/// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
#[must_use]
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the day that is not in each year is their last one.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date of a day counted from 1970-01-01: year, month and day, as [`days_since_1970`] takes them. Years that fit 64 bits.
/// Source: the same, civil_from_days.
#[must_use]
pub fn date_of_day(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for ((year, month, day), expect) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((2100, 3, 1), 47_541),
            ((1600, 1, 1), -135_140),
        ] {
            assert_eq!(days_since_1970(year, month, day), expect, "{year}-{month}-{day}");
            assert_eq!(date_of_day(expect), (year, month, day));
        }
    }
}
