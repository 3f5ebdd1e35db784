"use strict";
// The rules of shogi, for moves that readers of the page try on the board. A position is
// { board, inHand, side, from, to }: 81 squares by file * 9 + rank, each null or { kind, color } with Black 0; the pieces
// in hand of both sides by kind; the side to move; the squares of the last move. Moves are USI text.
const Rules = (() => {
  const HAND = ["R", "B", "G", "S", "N", "L", "P"];

  function parseSfen(sfen) {
    const [ranks, side, hands] = sfen.split(" ");
    const board = Array(81).fill(null);
    ranks.split("/").forEach((row, rank) => {
      let file = 8;
      let promoted = "";
      for (const c of row) {
        if (c === "+") { promoted = "+"; continue; }
        if (c >= "1" && c <= "9") { file -= Number(c); continue; }
        const upper = c.toUpperCase();
        board[file * 9 + rank] = { kind: promoted + upper, color: c === upper ? 0 : 1 };
        promoted = "";
        file -= 1;
      }
    });
    const inHand = [{}, {}];
    let number = "";
    for (const c of hands === "-" ? "" : hands) {
      if (c >= "0" && c <= "9") { number += c; continue; }
      const upper = c.toUpperCase();
      inHand[c === upper ? 0 : 1][upper] = Number(number || "1");
      number = "";
    }
    return { board, inHand, side: side === "b" ? 0 : 1, from: null, to: null };
  }

  // the position as SFEN, its next move having this number
  function toSfen(position, number) {
    const letter = (piece) => (piece.color === 0 ? piece.kind : piece.kind.toLowerCase());
    const rows = [];
    for (let rank = 0; rank < 9; rank++) {
      let row = "", empty = 0;
      for (let file = 8; file >= 0; file--) {
        const piece = position.board[file * 9 + rank];
        if (!piece) { empty += 1; continue; }
        row += (empty || "") + letter(piece);
        empty = 0;
      }
      rows.push(row + (empty || ""));
    }
    let hands = "";
    for (const color of [0, 1]) {
      for (const kind of HAND) {
        const count = position.inHand[color][kind] || 0;
        if (count > 0) hands += (count > 1 ? count : "") + letter({ kind, color });
      }
    }
    return `${rows.join("/")} ${"bw"[position.side]} ${hands || "-"} ${number}`;
  }

  const square = (text) => (Number(text[0]) - 1) * 9 + text.charCodeAt(1) - 97;
  const name = (sq) => `${Math.floor(sq / 9) + 1}${String.fromCharCode(97 + (sq % 9))}`;

  function play(position, usi) {
    // a win that is declared moves nothing
    if (usi === "win") return position;
    const board = position.board.slice();
    const inHand = position.inHand.map((hand) => ({ ...hand }));
    const side = position.side;
    const to = square(usi.slice(2));
    let from = null;
    if (usi[1] === "*") {
      board[to] = { kind: usi[0], color: side };
      inHand[side][usi[0]] -= 1;
    } else {
      from = square(usi);
      const piece = board[from];
      const taken = board[to];
      if (taken) {
        const kind = taken.kind.replace("+", "");
        inHand[side][kind] = (inHand[side][kind] || 0) + 1;
      }
      board[from] = null;
      board[to] = usi.endsWith("+") ? { kind: "+" + piece.kind, color: side } : piece;
    }
    return { board, inHand, side: 1 - side, from, to };
  }

  // steps as [files to the left, ranks forward] as Black sees them, and the directions in which a piece slides
  const GOLD = [[-1, 1], [0, 1], [1, 1], [-1, 0], [1, 0], [0, -1]];
  const STRAIGHT = [[0, 1], [0, -1], [1, 0], [-1, 0]];
  const DIAGONAL = [[1, 1], [1, -1], [-1, 1], [-1, -1]];
  const STEPS = {
    P: [[0, 1]], N: [[-1, 2], [1, 2]], S: [[-1, 1], [0, 1], [1, 1], [-1, -1], [1, -1]], G: GOLD,
    K: [...STRAIGHT, ...DIAGONAL], "+P": GOLD, "+L": GOLD, "+N": GOLD, "+S": GOLD, "+B": STRAIGHT, "+R": DIAGONAL,
  };
  const SLIDES = { L: [[0, 1]], B: DIAGONAL, R: STRAIGHT, "+B": DIAGONAL, "+R": STRAIGHT };

  // the squares that the piece on a square attacks, friends included
  function attacks(board, from) {
    const { kind, color } = board[from];
    const forward = color === 0 ? -1 : 1;
    const found = [];
    const walk = ([left, ahead], most) => {
      let file = Math.floor(from / 9), rank = from % 9;
      for (let i = 0; i < most; i++) {
        file += left;
        rank += ahead * forward;
        if (file < 0 || file > 8 || rank < 0 || rank > 8) return;
        found.push(file * 9 + rank);
        if (board[file * 9 + rank]) return;
      }
    };
    for (const step of STEPS[kind] || []) walk(step, 1);
    for (const slide of SLIDES[kind] || []) walk(slide, 8);
    return found;
  }

  function inCheck(board, color) {
    const king = board.findIndex((piece) => piece && piece.kind === "K" && piece.color === color);
    if (king < 0) return false;
    return board.some((piece, sq) => piece && piece.color !== color && attacks(board, sq).includes(king));
  }

  // how far a rank is from the far edge of the side's board: 0 is the last rank
  const depth = (sq, side) => (side === 0 ? sq % 9 : 8 - (sq % 9));
  // pawns and lances never move again from the last rank, knights from the last two
  const stuck = (kind, to, side) => depth(to, side) < { P: 1, L: 1, N: 2 }[kind];

  // moves that follow the pieces' rules, whether they leave the king in check or not
  function candidates(position) {
    const { board, inHand, side } = position;
    const moves = [];
    board.forEach((piece, from) => {
      if (!piece || piece.color !== side) return;
      for (const to of attacks(board, from)) {
        if (board[to] && board[to].color === side) continue;
        const move = name(from) + name(to);
        if (!stuck(piece.kind, to, side)) moves.push(move);
        const promotes = !piece.kind.startsWith("+") && piece.kind !== "G" && piece.kind !== "K";
        if (promotes && (depth(from, side) < 3 || depth(to, side) < 3)) moves.push(move + "+");
      }
    });
    for (const kind of HAND) {
      if (!inHand[side][kind]) continue;
      for (let to = 0; to < 81; to++) {
        if (board[to] || stuck(kind, to, side)) continue;
        const file = Math.floor(to / 9) * 9;
        const own = (piece) => piece && piece.kind === "P" && piece.color === side;
        if (kind === "P" && board.slice(file, file + 9).some(own)) continue;
        moves.push(`${kind}*${name(to)}`);
      }
    }
    return moves;
  }

  function safe(position, move) {
    return !inCheck(play(position, move).board, position.side);
  }

  // every legal move; a pawn that is dropped may not mate
  function legalMoves(position) {
    return candidates(position).filter((move) => {
      if (!safe(position, move)) return false;
      if (!move.startsWith("P*")) return true;
      const after = play(position, move);
      return !inCheck(after.board, after.side) || candidates(after).some((reply) => safe(after, reply));
    });
  }

  return { HAND, parseSfen, toSfen, play, legalMoves, square, name };
})();
