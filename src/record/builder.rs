//! Builds a game's tree in the order of records: a line to its end, then each variation from the move that
//! it replaces.

use super::error::{BadMove, RecordError, Warnings, excerpt};
use super::game::{DEEPEST, End, Line, Ply, Record};
use super::special::Special;
use crate::position::Position;
use crate::support::messages;
use crate::types::{Move, Square};
use std::time::Duration;

/// A tree under way, and the place in it where the next move belongs.
pub(super) struct Builder {
    record: Record,
    main: Line,
    /// From the main line to the present one: each starts at a ply of the one before.
    path: Vec<Segment>,
    /// After the moves of the path.
    position: Position,
    /// The moves of the path since the root.
    played: Vec<Move>,
    /// What came before the first move of its variation.
    pending: Pending,
    /// The illegal move that ended the present line.
    foul: Option<RecordError>,
}

/// Notes that wait for a move.
#[derive(Default)]
struct Pending {
    comments: Vec<String>,
    asides: Vec<String>,
    bookmark: Option<String>,
}

/// A line on the way to the present place.
#[derive(Clone, Copy)]
struct Segment {
    /// The index of its first move, counted from the root.
    start: usize,
    /// Which variation of the ply at `start` of the line before.
    variation: usize,
}

impl Builder {
    pub fn new(record: Record) -> Builder {
        let position = record.root.clone();
        let path = vec![Segment { start: 0, variation: 0 }];
        Builder {
            record,
            main: Line::default(),
            path,
            position,
            played: Vec::new(),
            pending: Pending::default(),
            foul: None,
        }
    }

    /// The position in which the next move is played.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The target of the last move, for 同.
    pub fn last_target(&self) -> Option<Square> {
        self.played.last().map(|m| m.to())
    }

    /// How many moves lead here.
    pub fn ply(&self) -> usize {
        self.played.len()
    }

    /// The number of the next move or ending, counted from 1; an illegal move counts.
    pub fn next_number(&self) -> usize {
        self.played.len() + 1 + usize::from(self.foul.is_some())
    }

    /// The number of the first move in the starting position.
    pub fn first_number(&self) -> usize {
        self.record.root.game_ply() as usize
    }

    /// The ending of the present line.
    pub fn end(&mut self) -> Option<&mut End> {
        self.line().end.as_mut()
    }

    fn line(&mut self) -> &mut Line {
        let mut line = &mut self.main;
        let mut start = 0;
        for segment in self.path.iter().skip(1) {
            let at = segment.start - start;
            start = segment.start;
            let Line { moves, end } = line;
            let variations = match moves.get_mut(at) {
                Some(ply) => &mut ply.variations,
                None => &mut end.get_or_insert_with(|| End::of(Special::Interrupted)).variations,
            };
            if variations.len() <= segment.variation {
                variations.resize(segment.variation + 1, Line::default());
            }
            line = &mut variations[segment.variation];
        }
        line
    }

    /// Appends a legal move.
    pub fn play(&mut self, mv: Move) {
        self.position.do_move(mv);
        self.played.push(mv);
        let Pending { comments, asides, bookmark } = std::mem::take(&mut self.pending);
        self.line().moves.push(Ply { comments, asides, bookmark, ..Ply::of(mv) });
    }

    /// Ends the present line; `words` is what the file calls that, if it is none of KIF's words.
    ///
    /// # Errors
    /// When it has ended already, other than by an illegal move, which such an ending only confirms.
    pub fn finish_line(&mut self, special: Special, words: Option<String>) -> Result<(), String> {
        if self.foul.is_some() {
            return Ok(());
        }
        self.must_go_on(special.kif(self.position.side_to_move()))?;
        let Pending { comments, asides, bookmark } = std::mem::take(&mut self.pending);
        self.line().end = Some(End { words, comments, asides, bookmark, ..End::of(special) });
        Ok(())
    }

    /// # Errors
    /// When the present line has ended; `what` follows nevertheless.
    pub fn must_go_on(&mut self, what: &str) -> Result<(), String> {
        let turn = self.position.side_to_move();
        match self.line().end.as_ref() {
            Some(End { words: Some(words), .. }) => Err(messages::after_the_end(what, excerpt(words))),
            Some(end) => Err(messages::after_the_end(what, end.special.kif(turn))),
            None => Ok(()),
        }
    }

    /// Plays a move, or ends the line with it if it breaks a rule; `text` is what the file has.
    ///
    /// # Errors
    /// When it cannot be understood, or the line has ended, or a strict reader finds it illegal.
    pub fn play_or_foul(
        &mut self,
        found: Result<Move, BadMove>,
        text: &str,
        warnings: &mut Warnings,
    ) -> Result<(), String> {
        self.must_go_on(messages::word("a move"))?;
        match found {
            Ok(m) => self.play(m),
            Err(BadMove::Text(what)) => return Err(what),
            Err(BadMove::Foul(by, what)) => {
                warnings.skip(messages::illegal_move_ends(&what))?;
                let mover = self.position.side_to_move() == by;
                let special = if mover { Special::IllegalMove } else { Special::IllegalAction(by) };
                self.finish_line(special, None)?;
                self.foul = Some(RecordError::new(warnings.line, what));
                self.comment(format!("反則手：{}", excerpt(text.trim())));
            }
        }
        Ok(())
    }

    /// The illegal move that ended the present line.
    pub fn foul(&self) -> Option<&RecordError> {
        self.foul.as_ref()
    }

    /// The error for what is wrong in a line: an illegal move before it, if what follows shows that the game went on.
    pub fn error(self, line: usize, what: String) -> RecordError {
        self.foul.unwrap_or_else(|| RecordError::new(line, what))
    }

    /// Goes back to vary the move with that index (0 = the first) of the present path.
    ///
    /// # Errors
    /// When there is no such move, or variations stand too deep.
    pub fn vary(&mut self, index: usize) -> Result<(), String> {
        self.settle();
        self.foul = None;
        while self.path.len() > 1 && self.path.last().is_some_and(|top| index <= top.start) {
            self.path.pop();
        }
        let start = self.path.last().map_or(0, |top| top.start);
        let played = self.played.len();
        let line = self.line();
        let at = index - start;
        // behind a variation without moves
        let forward = line.moves.get(played.saturating_sub(start)..at).unwrap_or_default();
        let forward: Vec<Move> = forward.iter().map(|ply| ply.mv).collect();
        let variation = match (line.moves.get(at), &line.end) {
            (Some(ply), _) => Some(ply.variations.len()),
            (None, Some(end)) if at == line.moves.len() => Some(end.variations.len()),
            // what follows an open line is its continuation
            (None, None) if at == line.moves.len() => None,
            _ => return Err(messages::nothing_to_vary(index + 1)),
        };
        if let Some(variation) = variation {
            if self.path.len() >= DEEPEST {
                return Err(messages::too_deep(DEEPEST));
            }
            self.path.push(Segment { start: index, variation });
        }
        while self.played.len() > index {
            self.position.undo_move();
            self.played.pop();
        }
        for mv in forward {
            self.position.do_move(mv);
            self.played.push(mv);
        }
        Ok(())
    }

    /// Drops a variation without moves; its notes go to the place where it would have begun.
    fn settle(&mut self) {
        let Line { moves, end } = self.line();
        if !moves.is_empty() || end.is_some() || self.path.len() == 1 {
            return;
        }
        let Pending { comments, asides, bookmark } = std::mem::take(&mut self.pending);
        let Some(Segment { start, .. }) = self.path.pop() else { return };
        let at = start - self.path.last().map_or(0, |top| top.start);
        let line = self.line();
        let variations = match (line.moves.get_mut(at), &mut line.end) {
            (Some(ply), _) => Some(&mut ply.variations),
            (None, end) => end.as_mut().map(|end| &mut end.variations),
        };
        if let Some(variations) = variations {
            variations.pop_if(|line| line.moves.is_empty() && line.end.is_none());
        }
        let place = match at.checked_sub(1).and_then(|before| line.moves.get_mut(before)) {
            Some(Ply { comments, asides, bookmark, .. }) => (comments, asides, bookmark),
            None => {
                let Record { comments, asides, bookmark, .. } = &mut self.record;
                (comments, asides, bookmark)
            }
        };
        place.0.extend(comments);
        place.1.extend(asides);
        match place.2 {
            // a second bookmark is a remark
            Some(_) => place.0.extend(bookmark),
            free => *free = bookmark,
        }
    }

    /// Adds a comment to the ending, else the last move, else the start. In a variation that has no move yet it is kept
    /// for its first move.
    pub fn comment(&mut self, text: String) {
        match self.notes() {
            Notes { comments: Some(comments), .. } => comments.push(text),
            _ => self.pending.comments.push(text),
        }
    }

    /// As [`comment`](Self::comment), a line that readers pass over.
    pub fn aside(&mut self, text: String) {
        match self.notes().asides {
            Some(asides) => asides.push(text),
            None => self.pending.asides.push(text),
        }
    }

    /// As [`comment`](Self::comment), a bookmark; the last one of a place stays.
    pub fn bookmark(&mut self, text: String) {
        match self.notes().bookmark {
            Some(bookmark) => *bookmark = Some(text),
            None => self.pending.bookmark = Some(text),
        }
    }

    /// The time of the last move or the ending; none at the start.
    pub fn time(&mut self) -> Option<&mut Option<Duration>> {
        self.notes().time
    }

    /// Where notes belong now.
    fn notes(&mut self) -> Notes<'_> {
        if self.path.len() == 1 && self.main.moves.is_empty() && self.main.end.is_none() {
            let Record { comments, asides, bookmark, .. } = &mut self.record;
            return Notes {
                time: None,
                comments: Some(comments),
                asides: Some(asides),
                bookmark: Some(bookmark),
            };
        }
        let Line { moves, end } = self.line();
        match (end, moves.last_mut()) {
            (Some(End { time, comments, asides, bookmark, .. }), _)
            | (None, Some(Ply { time, comments, asides, bookmark, .. })) => Notes {
                time: Some(time),
                comments: Some(comments),
                asides: Some(asides),
                bookmark: Some(bookmark),
            },
            (None, None) => Notes { time: None, comments: None, asides: None, bookmark: None },
        }
    }

    pub fn finish(mut self) -> Record {
        self.settle();
        self.record.moves = self.main.moves;
        self.record.end = self.main.end;
        self.record
    }
}

/// What can be noted on a place of the tree.
struct Notes<'a> {
    time: Option<&'a mut Option<Duration>>,
    comments: Option<&'a mut Vec<String>>,
    asides: Option<&'a mut Vec<String>>,
    bookmark: Option<&'a mut Option<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(builder: &mut Builder, moves: &str) {
        for m in moves.split(' ') {
            let m = builder.position().parse_move(m).unwrap();
            builder.play(m);
        }
    }

    #[test]
    fn variations_hang_on_the_move_that_they_replace() {
        let mut b = Builder::new(Record::new(Position::startpos()));
        play(&mut b, "7g7f 3c3d 2g2f 8c8d");
        b.finish_line(Special::Resign, None).unwrap();
        b.vary(4).unwrap();
        play(&mut b, "2f2e 8d8e");
        b.vary(5).unwrap();
        play(&mut b, "4a3b");
        b.vary(1).unwrap();
        play(&mut b, "8c8d 2g2f");
        b.vary(1).unwrap();
        play(&mut b, "1c1d");
        assert_eq!(b.vary(5).unwrap_err(), "there is no move 6 to vary");
        assert_eq!(b.position().sfen().split(' ').nth(3), Some("3"));
        let record = b.finish();
        assert_eq!(record.moves.len(), 4);
        let end = record.end.unwrap();
        assert_eq!((end.special, end.variations.len()), (Special::Resign, 1));
        assert_eq!(end.variations[0].moves[1].variations[0].moves.len(), 1);
        let lengths: Vec<usize> = record.moves[1].variations.iter().map(|l| l.moves.len()).collect();
        assert_eq!(lengths, [2, 1]);
    }

    /// Whatever is noted before a variation's first move stays with it, or where it would have begun if no move comes.
    #[test]
    fn notes_of_a_variation_wait_for_its_move() {
        let mut b = Builder::new(Record::new(Position::startpos()));
        play(&mut b, "7g7f 3c3d 2g2f");
        let note = |b: &mut Builder, n: &str| {
            b.comment(format!("c{n}"));
            b.aside(format!("a{n}"));
            b.bookmark(format!("b{n}"));
        };
        for index in [2, 1, 0] {
            b.vary(index).unwrap();
            note(&mut b, &index.to_string());
            if index == 2 {
                play(&mut b, "6g6f");
            }
        }
        let record = b.finish();
        let noted = |p: &Ply| (p.comments.concat(), p.asides.concat(), p.bookmark.clone());
        let of = |n: &str| (format!("c{n}"), format!("a{n}"), Some(format!("b{n}")));
        assert_eq!(noted(&record.moves[2].variations[0].moves[0]), of("2"));
        assert_eq!(noted(&record.moves[0]), of("1"));
        let start = (record.comments.concat(), record.asides.concat(), record.bookmark.clone());
        assert_eq!(start, of("0"));
        assert!(record.moves[0].variations.is_empty() && record.moves[1].variations.is_empty());
    }

    /// The moves of the line that a variation without moves would have varied lead to the next one.
    #[test]
    fn an_empty_variation_leaves_no_trace() {
        let mut b = Builder::new(Record::new(Position::startpos()));
        play(&mut b, "7g7f 3c3d 2g2f 8c8d");
        for noted in [false, true] {
            b.vary(1).unwrap();
            assert!(b.end().is_none());
            if noted {
                b.comment("c".into());
            }
            b.vary(3).unwrap();
            play(&mut b, "4a3b 2f2e");
        }
        let record = b.finish();
        let lengths: Vec<usize> = record.moves.iter().map(|ply| ply.variations.len()).collect();
        assert_eq!((lengths, &record.moves[0].comments[..]), (vec![0, 0, 0, 2], &["c".to_string()][..]));
    }

    #[test]
    fn depth_has_a_bound() {
        let mut b = Builder::new(Record::new(Position::startpos()));
        let turn = |ply: usize| ["2h3h", "8b7b", "3h2h", "7b8b"][ply % 4];
        play(&mut b, turn(0));
        for ply in 1..DEEPEST {
            play(&mut b, turn(ply));
            b.vary(ply).unwrap();
            play(&mut b, turn(ply));
        }
        play(&mut b, turn(DEEPEST));
        assert!(b.vary(DEEPEST).is_err());
        let mut plies = 0;
        b.finish().visit(&mut |_| plies += 1, &mut |_, _| ());
        assert_eq!(plies, 2 * DEEPEST);
    }
}
