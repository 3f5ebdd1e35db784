//! The headings of KIF and the names of CSA that mean the same.

/// KIF's heading, CSA's name. Of several headings for one name the first is written.
const HEADINGS: [(&str, &str); 12] = [
    ("開始日時", "START_TIME"),
    ("終了日時", "END_TIME"),
    ("棋戦", "EVENT"),
    ("場所", "SITE"),
    ("戦型", "OPENING"),
    ("持ち時間", "TIME_LIMIT"),
    ("備考", "NOTE"),
    ("先手持ち時間", "TIME+"),
    ("後手持ち時間", "TIME-"),
    ("最大手数", "MAX_MOVES"),
    ("持将棋", "JISHOGI"),
    // CSA V3 counts in seconds
    ("持ち時間", "TIME"),
];

/// The name by which a record keeps what stands under this KIF heading.
pub(super) fn name_of<'a>(heading: &'a str, value: &str) -> &'a str {
    let seconds = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if heading == "持ち時間" && value.split('+').count() == 3 && value.split('+').all(seconds) {
        return "TIME";
    }
    HEADINGS.iter().find(|(kif, _)| *kif == heading).map_or(heading, |(_, csa)| csa)
}

/// The KIF heading for a name.
pub(super) fn heading_of(name: &str) -> &str {
    HEADINGS.iter().find(|(_, csa)| *csa == name).map_or(name, |(kif, _)| kif)
}

/// Whether a name may stand in a `$` line of CSA.
pub(super) fn is_csa_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '_' | '+' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_read_back() {
        for (kif, csa) in HEADINGS {
            let value = if csa == "TIME" { "300+0+10" } else { "x" };
            assert_eq!((name_of(kif, value), heading_of(csa)), (csa, kif));
            assert!(is_csa_name(csa));
        }
        assert_eq!((name_of("表題", ""), heading_of("表題")), ("表題", "表題"));
        assert!(!is_csa_name("表題") && !is_csa_name(""));
    }
}
