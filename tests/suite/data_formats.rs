//! Training records: what we write is what others read, and the other way round.

use toratsugumi::data::board::Board;
use toratsugumi::data::hcp::{HuffmanCodedPos, from_apery_move, to_apery_move};
use toratsugumi::data::hcpe::HcpEval;
use toratsugumi::data::psv::PackedSfenValue;
use toratsugumi::data::{
    EndReason, GameReader, GameRecord, GameResult, GameWriter, Joiner, PackedSfen, Plies, PlyRecord, Scored,
    Start,
};
use toratsugumi::position::Position;
use toratsugumi::types::{Color, Move, PieceType};

fn bytes(hex: &str) -> [u8; 32] {
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    include_str!("../data/packed_positions.tsv")
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split('\t').collect())
}

#[test]
fn packed_positions_equal_those_of_cshogi() {
    for row in rows() {
        let pos = Position::from_sfen(row[0]).unwrap();
        let board = Board::of(&pos);
        let (psfen, hcp) = (PackedSfen(bytes(row[1])), HuffmanCodedPos(bytes(row[2])));
        assert_eq!(PackedSfen::of(&pos), psfen, "{}", row[0]);
        assert_eq!(HuffmanCodedPos::pack(&board).unwrap(), hcp, "{}", row[0]);
        assert_eq!(psfen.unpack().unwrap(), board, "{}", row[0]);
        assert_eq!(hcp.unpack().unwrap(), board, "{}", row[0]);
        assert_eq!(psfen.position(pos.game_ply()).unwrap().sfen(), pos.sfen());
        if row[3] != "-" {
            let m = pos.parse_move(row[3]).unwrap();
            assert_eq!(m.raw16().to_string(), row[4]);
            assert_eq!(to_apery_move(m.raw16()).to_string(), row[5]);
            assert_eq!(from_apery_move(row[5].parse().unwrap()), Some(m.raw16()));
        }
    }
}

#[test]
fn damaged_positions_are_errors_or_other_positions() {
    // a flipped bit must show, in an error or in another board; only behind the pieces of a handicap there is room that
    // means nothing
    let pieces = |sfen: &str| {
        let pos = Position::from_sfen(sfen).unwrap();
        let in_hand = |color| PieceType::HAND.iter().map(|&k| pos.hand(color).count(k)).sum::<u32>();
        pos.occupied().count() + in_hand(Color::Black) + in_hand(Color::White)
    };
    let (mut errors, mut others) = ([0; 2], [0; 2]);
    for row in rows() {
        let full = pieces(row[0]) == 40;
        let board = PackedSfen(bytes(row[1])).unpack().unwrap();
        for bit in 0..256 {
            let damaged = |text: &str| {
                let mut b = bytes(text);
                b[bit / 8] ^= 1 << (bit % 8);
                b
            };
            match PackedSfen(damaged(row[1])).unpack() {
                Ok(other) => {
                    assert!(other != board || !full, "{} bit {bit}", row[0]);
                    assert_eq!(PackedSfen::pack(&other).unwrap().unpack().unwrap(), other);
                    others[0] += 1;
                }
                Err(_) => errors[0] += 1,
            }
            match HuffmanCodedPos(damaged(row[2])).unpack() {
                Ok(other) => {
                    assert!(other != board || !full, "{} bit {bit}", row[0]);
                    assert_eq!(HuffmanCodedPos::pack(&other).unwrap().unpack().unwrap(), other);
                    others[1] += 1;
                }
                Err(_) => errors[1] += 1,
            }
        }
    }
    assert!(errors.iter().chain(&others).all(|&n| n > 100), "{errors:?} errors, {others:?} other positions");
}

/// A game of random moves with plausible scores.
fn random_game(id: u64) -> (GameRecord, Vec<String>) {
    let mut x = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut rnd = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 33) as usize
    };
    let mut pos = Position::startpos();
    let mut sfens = Vec::new();
    let mut game = GameRecord {
        id,
        start: Start::of(&pos),
        opening: Vec::new(),
        plies: Vec::new(),
        result: GameResult::Draw,
        reason: EndReason::MaxMoves,
    };
    for ply in 0..150 {
        let moves = pos.legal_moves(true);
        if moves.is_empty() {
            game.result = GameResult::win(!pos.side_to_move());
            game.reason = EndReason::Mate;
            break;
        }
        let m: Move = moves[rnd() % moves.len()].mv;
        if ply < 6 {
            game.opening.push(m.raw16());
        } else {
            sfens.push(format!("{} {m}", pos.sfen()));
            let noise = (0..6).map(|_| (rnd() % 41) as i32 - 20).sum::<i32>();
            let score = if ply % 2 == 0 { noise } else { -noise };
            game.plies.push(PlyRecord::new(m, score, !pos.in_check()));
        }
        pos.do_move(m);
    }
    (game, sfens)
}

#[test]
fn games_replay_to_the_same_positions_in_few_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("games");
    let games: Vec<_> = (0..300).map(random_game).collect();
    let mut w = GameWriter::create(&path, 1).unwrap();
    games.iter().for_each(|(g, _)| w.write(g).unwrap());
    let len = w.finish().unwrap();
    let mut plies = 0;
    for (read, (game, sfens)) in GameReader::open(&path).unwrap().zip(&games) {
        let read = read.unwrap();
        assert_eq!(&read, game);
        let mut seen = Vec::new();
        read.replay(|pos, _, m| seen.push(format!("{} {m}", pos.sfen()))).unwrap();
        assert_eq!(&seen, sfens);
        plies += seen.len();
    }
    let per_position = len as f64 / plies as f64;
    assert!(per_position < 4.0, "{per_position} bytes a position");
}

#[test]
fn games_survive_the_records_of_others() {
    for id in 0..20 {
        let (game, _) = random_game(id);
        let (mut psv, mut hcpe) = (Vec::new(), Vec::new());
        Scored::each_of_game(&game, Plies::All, |s| {
            psv.push(s.to_psv()?.to_bytes());
            hcpe.push(s.to_hcpe()?.to_bytes());
            Ok(())
        })
        .unwrap();
        assert_eq!((psv.len(), hcpe.len()), (game.plies.len(), game.plies.len()));
        let from_psv =
            psv.iter().map(|b| Scored::try_from(&PackedSfenValue::from_bytes(b).unwrap()).unwrap());
        let from_hcpe = hcpe.iter().map(|b| Scored::try_from(&HcpEval::from_bytes(b).unwrap()).unwrap());
        let moves = |g: &GameRecord| g.plies.iter().map(|p| (p.mv, p.score)).collect::<Vec<_>>();
        for records in [from_psv.collect::<Vec<_>>(), from_hcpe.collect()] {
            let mut joiner = Joiner::default();
            for r in &records {
                assert!(joiner.push(r).unwrap().is_none());
            }
            let joined = joiner.finish().unwrap();
            assert_eq!(moves(&joined), moves(&game));
            assert_eq!(joined.result, game.result);
        }
        let fit = game.plies.iter().filter(|p| p.fit).count();
        let mut taken = 0;
        Scored::each_of_game(&game, Plies::Fit, |_| {
            taken += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, fit);
    }
}
