//! The rules: legal moves in both conventions, drops, repetition, declaration, mates, and properties of the
//! incremental state.

use proptest::prelude::*;
use toratsugumi::position::{
    Bitboard, EnteringKingRule, GameRepetition, Illegal, MoveError, Position, Repetition, SfenError,
};
use toratsugumi::types::{Color, Move, MoveList, PieceType, Square};

fn table(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).map(|l| l.split('\t').collect())
}

fn names<'a>(moves: impl IntoIterator<Item = &'a Move>) -> Vec<String> {
    let mut names: Vec<String> = moves.into_iter().map(Move::to_string).collect();
    names.sort();
    names
}

fn legal(pos: &Position, all: bool) -> Vec<Move> {
    pos.legal_moves(all).iter().map(|s| s.mv).collect()
}

/// What a search generates: captures and quiets, or evasions.
fn pseudo_legal(pos: &Position, all: bool) -> Vec<Move> {
    let mut list = MoveList::new();
    if pos.in_check() {
        pos.evasions(all, &mut list);
    } else {
        pos.captures(all, &mut list);
        assert!(list.iter().all(|s| pos.is_capture(s.mv)));
        let captures = list.len();
        pos.quiets(all, &mut list);
        assert!(list[captures..].iter().all(|s| !pos.is_capture(s.mv)));
    }
    list.iter().map(|s| s.mv).collect()
}

fn check_legal_moves(text: &str) {
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<&str> = line.split('\t').collect();
        let [sfen, _, all, _, omitted] = f[..] else { panic!("{line}") };
        let split = |s: &str| match s {
            "-" => Vec::new(),
            s => s.split(' ').map(str::to_owned).collect::<Vec<_>>(),
        };
        let mut expected = split(all);
        expected.sort();
        let pos = Position::from_sfen(sfen).expect(sfen);
        assert_eq!(names(&legal(&pos, true)), expected, "{sfen}");
        let omitted = split(omitted);
        expected.retain(|m| !omitted.contains(m));
        assert_eq!(names(&legal(&pos, false)), expected, "{sfen}");
        for m in &expected {
            assert_eq!(pos.parse_move(m).map(|m| m.to_string()).as_ref(), Ok(m), "{sfen}");
        }
    }
}

#[test]
fn legal_moves_in_both_conventions() {
    check_legal_moves(include_str!("../data/legal_moves.tsv"));
}

/// `TORATSUGUMI_DATA=dir cargo test -- --ignored` checks whole tables of the same format.
#[test]
#[ignore = "needs the full tables"]
fn legal_moves_and_mates_of_the_full_tables() {
    let dir = std::env::var("TORATSUGUMI_DATA").expect("TORATSUGUMI_DATA");
    let read = |name: &str| std::fs::read_to_string(format!("{dir}/{name}")).expect(name);
    check_legal_moves(&read("legal_moves.tsv"));
    let (found, missed) = check_mates(&read("mate_in_1.tsv"));
    println!("mates in one: {found} found, {missed} missed");
    assert_eq!(missed, 0);
}

#[test]
fn pawn_drop_mates_are_never_generated() {
    for f in table(include_str!("../data/pawn_drop_mates.tsv")) {
        let pos = Position::from_sfen(f[0]).expect(f[0]);
        let legal = names(&legal(&pos, true));
        for m in f[1].split(' ') {
            assert!(!legal.iter().any(|l| l == m), "{} {m}", f[0]);
            assert_eq!(
                pos.parse_move(m),
                Err(MoveError { text: m.into(), reason: Illegal::DropPawnMate }),
                "{}",
                f[0]
            );
        }
    }
}

/// Whether `m` mates, by full generation.
fn really_mates(pos: &mut Position, m: Move) -> bool {
    pos.do_move(m);
    let mates = pos.in_check() && pos.legal_moves(true).is_empty();
    pos.undo_move();
    mates
}

fn check_mates(text: &str) -> (u32, u32) {
    let (mut found, mut missed) = (0, 0);
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<&str> = line.split('\t').collect();
        let mut pos = Position::from_sfen(f[0]).expect(f[0]);
        let m = pos.mate_in_one();
        if m.is_some() {
            assert!(names(&legal(&pos, true)).contains(&m.to_string()), "{m} is illegal in {}", f[0]);
            assert!(really_mates(&mut pos, m), "{m} does not mate in {}", f[0]);
            found += 1;
        }
        if f[1] == "1" && m.is_none() {
            let mates: Vec<_> =
                legal(&pos, true).into_iter().filter(|&m| really_mates(&mut pos, m)).collect();
            println!("missed: {} {mates:?}", f[0]);
            missed += 1;
        }
    }
    (found, missed)
}

#[test]
fn mates_in_one_are_found_and_real() {
    let (found, missed) = check_mates(include_str!("../data/mate_in_1.tsv"));
    assert!(found > 80 && missed == 0, "{found} found, {missed} missed");
}

#[test]
fn rule_cases() {
    for f in table(include_str!("../data/rules.tsv")) {
        let [id, kind, sfen, moves, expected, ..] = f[..] else { panic!("{f:?}") };
        if kind == "server" {
            continue;
        }
        let mut pos = Position::from_sfen(sfen).expect(sfen);
        match kind {
            "legality" => assert_eq!(pos.parse_move(moves).is_ok(), expected == "legal", "{id}"),
            "terminal" => assert!(!pos.has_legal_move(), "{id}"),
            "declare27" => {
                let win = pos.declaration_win(EnteringKingRule::CsaRule27);
                assert_eq!(win, (expected == "win").then_some(Move::WIN), "{id}");
                assert_eq!(pos.declaration_win(EnteringKingRule::None), None);
            }
            "repetition" => {
                let mut verdict = String::from("none");
                for (ply, m) in moves.split(' ').enumerate() {
                    assert_eq!(pos.game_repetition(), None, "{id}: decided before the end");
                    let m = pos.parse_move(m).expect(id);
                    pos.do_move(m);
                    if let Some(v) = pos.game_repetition() {
                        let v = match v {
                            GameRepetition::Draw => "draw",
                            GameRepetition::PerpetualCheck { loser: Color::Black } => "black_loses",
                            GameRepetition::PerpetualCheck { loser: Color::White } => "white_loses",
                        };
                        verdict = format!("{v}@{}", ply + 1);
                        // the fourth occurrence counts wherever the root is
                        assert_ne!(pos.repetition(0), Repetition::None, "{id}");
                    }
                }
                assert_eq!(verdict, expected, "{id}");
            }
            other => panic!("{id}: unknown kind {other}"),
        }
    }
}

fn play(pos: &mut Position, moves: &str) {
    for m in moves.split_whitespace() {
        let m = pos.parse_move(m).expect(m);
        pos.do_move(m);
    }
}

#[test]
fn repetition_inside_the_tree() {
    let mut pos = Position::startpos();
    play(&mut pos, "7g7f 3c3d 2h3h 8b7b 3h2h 7b8b");
    // equal to the position four plies back, which must lie after the root
    assert_eq!(pos.repetition(4), Repetition::None);
    assert_eq!(pos.repetition(5), Repetition::Draw);
    assert_eq!(pos.game_repetition(), None);
    pos.do_null_move();
    assert_eq!(pos.repetition(50), Repetition::None);
    pos.undo_null_move();
    assert_eq!(pos.repetition(5), Repetition::Draw);
}

#[test]
fn superior_and_inferior_hands() {
    let mut pos = Position::from_sfen("4g3k/9/9/9/9/9/9/4R4/K8 b 9P 1").expect("sfen");
    play(&mut pos, "9i8i 1a1b 8i9i 1b1a");
    assert_eq!(pos.repetition(5), Repetition::Draw);
    // Black loses a pawn and loses a move with the king: the board of four and of zero plies, a pawn down
    play(&mut pos, "P*5b 5a5b 9i8i 5b5a 8i9h 1a1b 9h9i 1b1a");
    assert_eq!(pos.repetition(8), Repetition::None);
    assert_eq!(pos.repetition(9), Repetition::Inferior);
    play(&mut pos, "9i8i");
    assert_eq!(pos.repetition(12), Repetition::None);
    assert_eq!(pos.repetition(13), Repetition::Superior);
}

#[test]
fn try_rule_and_handicap_declarations() {
    let pos = Position::from_sfen("9/4K4/9/9/9/9/9/9/8k b - 1").expect("sfen");
    let m = pos.declaration_win(EnteringKingRule::TryRule).expect("a try");
    assert_eq!(m.to_string(), "5b5a");
    let pos = Position::from_sfen("3r5/4K4/9/9/9/9/9/9/8k b - 1").expect("sfen");
    assert_eq!(pos.declaration_win(EnteringKingRule::TryRule), None);
    // White gave a rook (5 points): 22 points then suffice by 27H, not by 27
    let sfen = "K8/9/9/9/9/9/2gs1+p+p2/4k2bb/5sgr1 w 2G2S4N4L16Pp 1";
    let pos = Position::from_sfen(sfen);
    assert!(matches!(pos, Err(SfenError::TooManyPieces { .. })));
    let sfen = "K8/9/9/9/9/9/2gs1+p+p2/4k2bb/4ssgr1 w 2GS4N4L15Pp 1";
    let pos = Position::from_sfen(sfen).expect("sfen");
    assert_eq!(pos.declaration_win(EnteringKingRule::CsaRule27), None);
    assert_eq!(pos.declaration_win(EnteringKingRule::CsaRule27H), Some(Move::WIN));
    assert_eq!(pos.declaration_win(EnteringKingRule::CsaRule24H), None);
    for (name, rule) in EnteringKingRule::NAMES {
        assert_eq!(name.parse(), Ok(rule));
        assert_eq!(rule.to_string(), name);
    }
    assert!("CSARule99".parse::<EnteringKingRule>().is_err());
}

#[test]
fn sfen_errors_name_the_part() {
    let err = |s: &str| Position::from_sfen(s).expect_err(s);
    use SfenError as E;
    assert_eq!(err(""), E::Missing("board"));
    assert_eq!(err("sfen"), E::Missing("board"));
    assert_eq!(err("9/9/9/9/9/9/9/9/K8"), E::Missing("side to move"));
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b"), E::Missing("hands"));
    assert_eq!(err("9/9/9/9/9/9/9/K8 b -"), E::RankCount(8));
    assert_eq!(err("9/9/8/9/9/9/9/9/K8 b -"), E::RankLength { rank: 3, files: 8 });
    assert_eq!(err("9/9/9/9/9/9/9/9/K9999999 b -"), E::RankLength { rank: 9, files: 64 });
    assert_eq!(err("9/9/9/9/9/9/9/9/K7漢 b -"), E::UnknownPiece { rank: 9, found: '漢' });
    assert_eq!(err("9/9/9/9/9/9/9/9/+K8 b -"), E::CannotPromote { rank: 9, found: "K".into() });
    assert_eq!(err("9/9/9/9/9/9/9/9/K7+ b -"), E::CannotPromote { rank: 9, found: String::new() });
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 x -"), E::SideToMove("x".into()));
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b K"), E::UnknownHandPiece { text: "K".into(), found: 'K' });
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b 0P"), E::HandCount("0P".into()));
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b 99999999999P"), E::HandCount("99999999999P".into()));
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b P2"), E::HandCount("P2".into()));
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b 18Pp"), E::TooManyPieces { kind: "pawn", count: 19, limit: 18 });
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b - one"), E::MoveNumber("one".into()));
    assert_eq!(err("9/9/9/9/9/9/9/9/K8 b - 1 moves"), E::TrailingText("moves".into()));
    assert_eq!(err("9/9/9/9/9/9/9/9/KK7 b - 1"), E::TwoKings(Color::Black));
    assert_eq!(err("9/9/9/9/9/9/9/9/9 b - 1"), E::NoKing);
    assert_eq!(err("9/9/9/9/2P6/9/9/2P6/K8 b - 1"), E::Nifu { color: Color::Black, file: 7 });
    assert_eq!(err("9/9/9/9/9/9/9/n8/K8 b - 1"), E::DeadEnd { kind: "knight", square: Square::new(8, 7) });
    assert_eq!(err("4k4/4G4/9/9/9/9/9/9/4K4 b - 1"), E::OpponentInCheck(Color::White));
    assert!(err(&"é".repeat(1000)).to_string().len() < 200);
    // a missing king and missing pieces are no errors
    for ok in [
        "startpos",
        "sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w -",
        "4k4/9/9/9/9/9/9/9/9 b 2R2B4G4S4N4L18P 1",
        "9/9/9/9/9/9/9/9/4K4 w 2r 77",
    ] {
        assert!(Position::from_sfen(ok).is_ok(), "{ok}");
    }
    assert_eq!(Position::from_sfen("startpos").expect("startpos").sfen(), Position::startpos().sfen());
}

#[test]
fn move_errors_say_why() {
    let pos = Position::startpos();
    let err = |pos: &Position, m: &str| {
        let MoveError { text, reason } = pos.parse_move(m).expect_err(m);
        assert_eq!(text, m);
        reason
    };
    assert_eq!(err(&pos, "7g"), Illegal::Notation);
    assert_eq!(err(&pos, "7g7f++"), Illegal::Notation);
    assert_eq!(err(&pos, "漢字"), Illegal::Notation);
    assert_eq!(err(&pos, "5e5d"), Illegal::EmptyOrigin);
    assert_eq!(err(&pos, "3c3d"), Illegal::NotYours);
    assert_eq!(err(&pos, "7g7e"), Illegal::OutOfReach);
    assert_eq!(err(&pos, "9i9g"), Illegal::OwnPiece);
    assert_eq!(err(&pos, "7g7f+"), Illegal::OutsideZone);
    assert_eq!(err(&pos, "4i4h+"), Illegal::CannotPromote);
    assert_eq!(err(&pos, "P*5e"), Illegal::NotInHand);
    let error = |m: &str| pos.parse_move(m).unwrap_err().to_string();
    assert_eq!(error("7\u{7}"), "\"7\\u{7}\" is not a move in USI notation");
    assert_eq!(error("7g7e"), "7g7e: the piece does not move there");
    let pos = Position::from_sfen("4r3k/9/9/9/9/9/9/9/4K4 b GP 1").expect("sfen");
    assert_eq!(err(&pos, "P*1b"), Illegal::IgnoresCheck);
    assert_eq!(err(&pos, "5i5h"), Illegal::KingInCheck);
    assert_eq!(err(&pos, "G*1a"), Illegal::Occupied);
}

#[test]
fn games_of_ten_thousand_plies() {
    let mut pos = Position::startpos();
    for _ in 0..2_500 {
        play(&mut pos, "2h3h 8b7b 3h2h 7b8b");
    }
    assert_eq!(pos.history_len(), 10_000);
    assert_eq!(pos.game_ply(), 10_001);
    assert_eq!(pos.game_repetition(), Some(GameRepetition::Draw));
    let copy = pos.clone();
    for _ in 0..10_000 {
        pos.undo_move();
    }
    assert_eq!(pos.sfen(), Position::startpos().sfen());
    assert_eq!(pos.key(), copy.key());
}

#[test]
fn exchanges() {
    let ge = |sfen: &str, m: &str, threshold: i32| {
        let pos = Position::from_sfen(sfen).expect(sfen);
        pos.see_ge(pos.parse_move(m).expect(m), threshold)
    };
    // an undefended pawn
    let s = "8k/9/9/9/4p4/4R4/9/9/K8 b - 1";
    assert!(ge(s, "5f5e", 90) && !ge(s, "5f5e", 91));
    // the same pawn defended: rook for pawn
    let s = "8k/9/9/4g4/4p4/4R4/9/9/K8 b - 1";
    assert!(ge(s, "5f5e", 90 - 990) && !ge(s, "5f5e", 91 - 990));
    // defended and attacked twice: the lance behind the rook takes the gold
    let s = "8k/9/9/4g4/4p4/4R4/4L4/9/K8 b - 1";
    assert!(ge(s, "5f5e", 90 - 990 + 540) && !ge(s, "5f5e", 91 - 990 + 540));
    // a pinned defender does not count
    let s = "4k4/9/4s4/3p5/3G5/4R4/9/9/K8 b - 1";
    assert!(ge(s, "6e6d", 90));
    let s = "3k5/9/4s4/3p5/3G5/4R4/9/9/K8 b - 1";
    assert!(ge(s, "6e6d", 90 - 540) && !ge(s, "6e6d", 91 - 540));
    // a pinner that is itself captured does not: the bishop takes back
    let s = "8k/9/9/9/5p3/5b1R1/4B4/9/2K6 b - 1";
    assert!(ge(s, "2f4f", 855 - 990 + 90) && !ge(s, "2f4f", 856 - 990 + 90));
    // a drop next to a pawn loses the piece; a defended one against a rook does not
    let s = "8k/9/9/4p4/9/9/9/9/K8 b G 1";
    assert!(ge(s, "G*5e", -540) && !ge(s, "G*5e", -539));
    let s = "8k/9/9/4r4/9/4P4/9/9/K8 b G 1";
    assert!(ge(s, "G*5e", 0));
}

/// A position after random moves from the start, all legal moves equally likely.
fn random_position() -> impl Strategy<Value = Position> {
    let starts = prop::sample::select(vec![
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1",
        "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
        "4k4/9/9/9/9/9/9/9/9 b 2R2B4G4S4N4L18P 1",
        "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 1",
    ]);
    (starts, prop::collection::vec(any::<u16>(), 0..120)).prop_map(|(start, choices)| {
        let mut pos = Position::from_sfen(start).expect(start);
        for c in choices {
            let moves = legal(&pos, true);
            if moves.is_empty() {
                break;
            }
            pos.do_move(moves[c as usize % moves.len()]);
        }
        pos
    })
}

/// Everything observable about a position.
fn fingerprint(pos: &Position) -> impl PartialEq + std::fmt::Debug + use<> {
    let sets: Vec<Bitboard> = (1..15)
        .flat_map(|k| Color::ALL.map(|c| pos.pieces_of(c, PieceType(k))))
        .chain((1..15).map(|k| pos.check_squares(PieceType(k))))
        .chain(Color::ALL.into_iter().flat_map(|c| [pos.pieces(c), pos.blockers(c), pos.pinners(c)]))
        .chain([pos.occupied(), pos.checkers()])
        .collect();
    let keys = [
        pos.key(),
        pos.board_key(),
        pos.hand_key(),
        pos.pawn_key(),
        pos.minor_key(),
        pos.non_pawn_key(Color::Black),
        pos.non_pawn_key(Color::White),
        pos.color_key(Color::Black),
        pos.color_key(Color::White),
    ];
    (pos.sfen(), sets, keys, Color::ALL.map(|c| pos.king_square(c)))
}

/// The capture of a pawn on the file of the check makes room for another pawn, which can be dropped in
/// between.
#[test]
fn a_pawn_may_be_dropped_on_the_file_of_a_captured_one() {
    let sfen = "G2+S1G1+S1/l+B2r4/2p2pspl/PpN6/1Pg+r3kp/K1N1PPp1P/pG2+b3L/N4S3/L1P6 w 4Pnp 93";
    let mut pos = Position::from_sfen(sfen).expect(sfen);
    let m = pos.mate_in_one();
    assert!(m.is_none() || really_mates(&mut pos, m), "{m} is answered by P*9e");
    assert!(m.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn sfen_round_trips_and_rebuilds_all_state(pos in random_position()) {
        let again = Position::from_sfen(&pos.sfen()).expect("own SFEN");
        prop_assert_eq!(fingerprint(&again), fingerprint(&pos));
        let core = shogi_core::PartialPosition::from(&pos);
        let back = Position::try_from(&core).expect("own position");
        prop_assert_eq!(fingerprint(&back), fingerprint(&pos));
    }

    #[test]
    fn undo_restores_the_position_and_move_tests_are_right(mut pos in random_position()) {
        let before = fingerprint(&pos);
        let rep = pos.repetition(1000);
        for m in legal(&pos, true) {
            let (check, key) = (pos.gives_check(m), pos.key_after(m));
            let opponent_key = pos.opponent_key_after(m);
            let changes = pos.do_move(m);
            prop_assert_eq!(pos.in_check(), check, "{}", m);
            prop_assert_eq!(pos.key(), key, "{}", m);
            prop_assert_eq!(pos.color_key(pos.side_to_move()), opponent_key, "{}", m);
            prop_assert!(changes.count <= 2);
            prop_assert_eq!(pos.last_move(), m);
            let rebuilt = Position::from_sfen(&pos.sfen()).expect("own SFEN");
            prop_assert_eq!(fingerprint(&rebuilt), fingerprint(&pos));
            pos.undo_move();
            prop_assert_eq!(&fingerprint(&pos), &before, "{}", m);
            prop_assert_eq!(pos.repetition(1000), rep);
        }
        if !pos.in_check() {
            pos.do_null_move();
            prop_assert_ne!(pos.key(), before_key(&pos));
            pos.undo_null_move();
            prop_assert_eq!(&fingerprint(&pos), &before);
        }
    }

    #[test]
    fn generators_and_move_tests_agree(pos in random_position()) {
        for all in [false, true] {
            let mut generated = pseudo_legal(&pos, all);
            let mut accepted: Vec<Move> =
                (0..=u16::MAX).map(|raw| pos.expand(raw)).filter(|&m| pos.is_pseudo_legal(m, all)).collect();
            generated.sort_by_key(|m| m.0);
            accepted.sort_by_key(|m| m.0);
            prop_assert_eq!(&generated, &accepted);
            generated.retain(|&m| pos.is_legal(m));
            prop_assert_eq!(names(&generated), names(&legal(&pos, all)));
        }
        prop_assert_eq!(pos.has_legal_move(), !legal(&pos, true).is_empty());
        for special in [Move::NONE, Move::NULL, Move::RESIGN, Move::WIN] {
            prop_assert!(!pos.is_pseudo_legal(special, true));
        }
    }

    #[test]
    fn mate_in_one_agrees_with_full_generation(mut pos in random_position()) {
        if !pos.in_check() {
            let m = pos.mate_in_one();
            let any = legal(&pos, true).into_iter().any(|m| really_mates(&mut pos, m));
            prop_assert_eq!(m.is_some(), any);
            if m.is_some() {
                prop_assert!(really_mates(&mut pos, m));
            }
        }
    }

    #[test]
    fn mirrored_and_turned_boards_have_as_many_moves(pos in random_position()) {
        for turn in [false, true] {
            let other = transformed(&pos, turn);
            prop_assert_eq!(legal(&other, true).len(), legal(&pos, true).len());
            prop_assert_eq!(legal(&other, false).len(), legal(&pos, false).len());
            prop_assert_eq!(other.mate_in_one().is_some(), pos.mate_in_one().is_some());
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}", near in "[1-9lnsgkrbpLNSGKRBP+/ bw-]{0,80}") {
        let _ = Position::from_sfen(&text);
        let _ = Position::from_sfen(&near);
        let _ = Position::startpos().parse_move(&text);
        let _ = Position::startpos().parse_move(&near);
    }
}

fn before_key(pos: &Position) -> u64 {
    let mut before = pos.clone();
    before.undo_null_move();
    before.key()
}

/// The left-right mirror image, or the board turned with colours exchanged.
fn transformed(pos: &Position, turn: bool) -> Position {
    let text = pos.sfen();
    let f: Vec<&str> = text.split(' ').collect();
    let cells: Vec<Vec<String>> = f[0]
        .split('/')
        .map(|row| {
            let mut cells = Vec::new();
            let mut plus = "";
            for c in row.chars() {
                match c {
                    '+' => plus = "+",
                    '1'..='9' => cells.extend((0..c as u8 - b'0').map(|_| "1".to_owned())),
                    c => cells.push(format!("{}{c}", std::mem::take(&mut plus))),
                }
            }
            cells
        })
        .collect();
    let swap = |s: &str| -> String {
        s.chars()
            .map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
            .collect()
    };
    let rows: Vec<String> = if turn {
        cells.iter().rev().map(|r| r.iter().rev().map(|c| swap(c)).collect()).collect()
    } else {
        cells.iter().map(|r| r.iter().rev().cloned().collect()).collect()
    };
    let (side, hands) = match (turn, f[1]) {
        (false, side) => (side, f[2].to_owned()),
        (true, "b") => ("w", swap(f[2])),
        (true, _) => ("b", swap(f[2])),
    };
    Position::from_sfen(&format!("{} {side} {hands} 1", rows.join("/"))).expect("a transformed position")
}
