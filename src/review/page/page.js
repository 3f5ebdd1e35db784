"use strict";
(() => {
  const data = JSON.parse(document.getElementById("game").textContent);
  const words = data.words;
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const KANJI = { P: "歩", L: "香", N: "桂", S: "銀", G: "金", B: "角", R: "飛", K: "玉",
    "+P": "と", "+L": "杏", "+N": "圭", "+S": "全", "+B": "馬", "+R": "竜" };
  // in a move's text; the board has room for one character
  const NAMES = { ...KANJI, "+L": "成香", "+N": "成桂", "+S": "成銀" };
  const DIGITS = "１２３４５６７８９";
  const NUMERALS = "一二三四五六七八九";
  const japanese = data.lang === "ja";

  const positions = [Rules.parseSfen(data.root)];
  for (const move of data.moves) positions.push(Rules.play(positions[positions.length - 1], move.usi));
  const last = data.moves.length;
  const isBad = (move) => move.class === "mistake" || move.class === "blunder";
  const isFlagged = (move) => isBad(move) || move.class === "inaccuracy";
  // a question of the learning mode: bad at either end of the margin
  const isQuestion = (move) => isFlagged(move) && move.least !== "good" && move.least !== "best";

  const timed = data.moves.some((move) => move.time > 0);

  // What is shown: the position after `ply` moves, or one some steps into a line. A line has the ply at which it begins,
  // its moves in USI and in words, a name, and perhaps comments on its moves.
  const state = { ply: 0, line: null, step: 0, flipped: false, selected: null, lesson: null };

  function shown() {
    if (!state.line) return positions[state.ply];
    return state.line.moves.slice(0, state.step).reduce(Rules.play, positions[state.line.base]);
  }

  // --- making elements

  function element(parent, name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  function add(parent, tag, name, text) {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    if (tag === "button") node.type = "button";
    parent.appendChild(node);
    return node;
  }

  function button(parent, name, text, action) {
    const node = add(parent, "button", name, text);
    node.addEventListener("click", action);
    return node;
  }

  // --- words

  const percent = (rate) => Math.round(100 * rate) + "%";
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  function clock(seconds) {
    if (seconds < 10 && seconds % 1) return fill(words.seconds, seconds.toFixed(1));
    if (seconds >= 3600) return `${Math.floor(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
    return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  }
  const named = (ply) => (ply > 0 ? `${ply}. ${data.moves[ply - 1].text}` : words.start);
  const fill = (text, ...values) => values.reduce((made, value) => made.replace("{}", value), text);

  function score(line) {
    if (line.repetition) return line.repetition;
    if (line.mate === null) return (line.cp > 0 ? "+" : "") + line.cp;
    return fill(words.mate, words.sides[line.cp > 0 ? 0 : 1], Math.abs(line.mate));
  }

  function verdict(move) {
    return words.classes[move.class].name + (isFlagged(move) && !isQuestion(move) ? words.doubt : "");
  }

  // a move of the reader's: with its origin only where another piece of the kind could go there
  function spell(position, usi) {
    const to = Rules.square(usi.slice(2));
    const drop = usi[1] === "*";
    const piece = drop ? { kind: usi[0] } : position.board[Rules.square(usi)];
    const digits = (sq) => `${Math.floor(sq / 9) + 1}${(sq % 9) + 1}`;
    const moves = legalMoves(position);
    const rival = (other) => other[1] !== "*" && other.slice(0, 2) !== usi.slice(0, 2) && other.slice(2, 4) === usi.slice(2, 4)
      && position.board[Rules.square(other)].kind === piece.kind;
    const ambiguous = moves.some(rival);
    const declined = !drop && usi.length === 4 && moves.includes(usi + "+");
    if (!japanese) {
      if (drop) return `${piece.kind}*${digits(to)}`;
      const origin = ambiguous ? digits(Rules.square(usi)) : "";
      return piece.kind + origin + (position.board[to] ? "x" : "-") + digits(to) + (usi[4] || (declined ? "=" : ""));
    }
    const mark = position.side === 0 ? "▲" : "△";
    const target = to === position.to ? "同" : DIGITS[Math.floor(to / 9)] + NUMERALS[to % 9];
    const how = drop ? (ambiguous ? "打" : "") : usi[4] ? "成" : declined ? "不成" : "";
    return mark + target + NAMES[piece.kind] + how + (ambiguous && !drop ? `(${digits(Rules.square(usi))})` : "");
  }

  // --- the board

  const CELL = 44, EDGE = 12, HEAD = 20;

  const corner = (sq) => {
    let column = 8 - Math.floor(sq / 9), row = sq % 9;
    if (state.flipped) { column = 8 - column; row = 8 - row; }
    return [EDGE + column * CELL, HEAD + row * CELL];
  };
  const centre = (sq) => corner(sq).map((n) => n + CELL / 2);

  function drawBoard(position) {
    const svg = byId("board");
    svg.textContent = "";
    element(svg, "rect", { class: "ground", x: EDGE, y: HEAD, width: 9 * CELL, height: 9 * CELL });
    const mark = (sq, name) => {
      if (sq === null) return;
      const [x, y] = corner(sq);
      element(svg, "rect", { class: name, x, y, width: CELL, height: CELL });
    };
    mark(position.from, "from");
    mark(position.to, "to");
    if (state.selected && state.selected.length === 2) mark(Rules.square(state.selected), "picked");
    for (let i = 0; i <= 9; i++) {
      const a = EDGE + i * CELL, b = HEAD + i * CELL;
      element(svg, "line", { class: "rule", x1: a, x2: a, y1: HEAD, y2: HEAD + 9 * CELL });
      element(svg, "line", { class: "rule", x1: EDGE, x2: EDGE + 9 * CELL, y1: b, y2: b });
    }
    for (const [x, y] of [[3, 3], [6, 3], [3, 6], [6, 6]]) {
      element(svg, "circle", { class: "star", cx: EDGE + x * CELL, cy: HEAD + y * CELL, r: 3.5 });
    }
    const ranks = byId("ranks").value;
    for (let i = 0; i < 9; i++) {
      const file = state.flipped ? i : 8 - i, rank = state.flipped ? 8 - i : i;
      const files = ranks === NUMERALS ? DIGITS : "123456789";
      element(svg, "text", { class: "label", x: EDGE + (i + 0.5) * CELL, y: HEAD - 5 }, files[file]);
      element(svg, "text", { class: "label", x: EDGE + 9 * CELL + 11, y: HEAD + (i + 0.62) * CELL }, ranks[rank]);
    }
    const letters = byId("pieces").value === "letters";
    position.board.forEach((piece, sq) => {
      if (!piece) return;
      const [x, y] = centre(sq);
      const turned = (piece.color === 1) !== state.flipped;
      const group = element(svg, "g", { transform: `translate(${x} ${y})${turned ? " rotate(180)" : ""}` });
      element(group, "path", { class: "shape", d: "M0 -20 L13 -15 L17 19 L-17 19 L-13 -15 Z" });
      const name = piece.kind[0] === "+" ? "face promoted" : "face";
      if (letters) element(group, "text", { class: name + " letter", y: 10 }, piece.kind);
      else element(group, "text", { class: name, y: 12 }, KANJI[piece.kind]);
    });
    for (const move of targets(position)) {
      const [cx, cy] = centre(Rules.square(move.slice(2)));
      element(svg, "circle", { class: "target", cx, cy, r: 8 });
    }
    const move = state.line ? null : compared();
    if (!move) return;
    arrow(svg, move.usi, words.classes[move.class].color, 0);
    const best = data.positions[move.ply - 1].lines[0].pv[0];
    if (best && best !== "win") arrow(svg, best, words.classes.best.color, 1);
  }

  // the bad move that is compared with the best one: the last move, or that of a question with its answer
  function compared() {
    const move = data.moves[(isQuestioned() ? state.ply + 1 : state.ply) - 1];
    return move && isFlagged(move) && !(state.lesson && !state.lesson.shown) ? move : null;
  }

  // an arrow for a move, or a ring where a piece is dropped
  function arrow(svg, usi, color, rank) {
    const [x2, y2] = centre(Rules.square(usi.slice(2)));
    const group = element(svg, "g", { class: "arrow", "data-move": usi, stroke: color, fill: color });
    if (usi[1] === "*") {
      element(group, "circle", { cx: x2, cy: y2, r: 20 - 4 * rank, fill: "none", "stroke-width": 5 });
      if (shown().board[Rules.square(usi.slice(2))]) return;
      const letters = byId("pieces").value === "letters";
      element(group, "text", { x: x2, y: y2 + 6, "stroke-width": 0 }, letters ? usi[0] : KANJI[usi[0]]);
      return;
    }
    const [x1, y1] = centre(Rules.square(usi));
    const length = Math.hypot(x2 - x1, y2 - y1), angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    const transform = `translate(${x1} ${y1}) rotate(${angle})`;
    element(group, "path", { transform, "stroke-width": 0, d: `M0 -3.5 H${length - 16} V-10 L${length} 0 L${length - 16} 10 V3.5 H0 Z` });
  }

  function drawHands(position) {
    const letters = byId("pieces").value === "letters";
    for (const color of [0, 1]) {
      const top = (color === 1) !== state.flipped;
      const node = byId(top ? "hand-top" : "hand-bottom");
      node.textContent = "";
      node.classList.toggle("moves", position.side === color);
      add(node, "b", "", data.names[color]);
      const pieces = add(node, "span");
      pieces.setAttribute("role", "group");
      const held = Rules.HAND.filter((kind) => position.inHand[color][kind] > 0);
      pieces.setAttribute("aria-label", words.hand + (held.length ? "" : " " + words.none));
      for (const kind of held) {
        const count = position.inHand[color][kind];
        const text = (letters ? kind : KANJI[kind]) + (count > 1 ? count : "");
        const piece = button(pieces, "", text, () => select(position.side === color ? kind + "*" : null));
        piece.disabled = position.side !== color;
        piece.setAttribute("aria-pressed", String(position.side === color && state.selected === kind + "*"));
      }
    }
  }

  // --- moves of one's own

  const legal = new Map();
  function legalMoves(position) {
    const key = Rules.toSfen(position, 1);
    if (!legal.has(key)) legal.set(key, Rules.legalMoves(position));
    return legal.get(key);
  }

  function targets(position) {
    if (!state.selected) return [];
    const found = legalMoves(position).filter((move) => move.startsWith(state.selected));
    return found.filter((move) => !move.endsWith("+") || !found.includes(move.slice(0, 4)));
  }

  function select(from) {
    state.selected = state.selected === from ? null : from;
    byId("promotion").hidden = true;
    draw();
  }

  // plays a move on the board; where the piece may promote the reader is asked
  function tryTarget(to) {
    const moves = legalMoves(shown()).filter((move) => move.startsWith(state.selected) && move.slice(2, 4) === to);
    if (moves.length < 2) return tryMove(moves[0]);
    const bar = byId("promotion");
    bar.textContent = "";
    for (const move of moves.reverse()) {
      button(bar, "", move.endsWith("+") ? words.promote : words.keep, () => tryMove(move));
    }
    bar.hidden = false;
    bar.firstChild.focus();
  }

  function tryMove(usi) {
    byId("promotion").hidden = true;
    state.selected = null;
    const position = shown();
    if (isQuestioned() && !state.line) return answer(usi);
    const base = state.line ? state.line.base : state.ply;
    const moves = state.line ? state.line.moves.slice(0, state.step) : [];
    const text = state.line ? state.line.text.slice(0, state.step) : [];
    const next = state.line ? null : data.moves[state.ply];
    // the move of the game, or of the line, is not another one
    if (next && next.usi === usi) return go(state.ply + 1);
    if (state.line && state.line.moves[state.step] === usi) return walk(1);
    show({ base, moves: [...moves, usi], text: [...text, spell(position, usi)], name: words.own }, moves.length + 1);
  }

  // the plies of the positions that were searched
  const searched = new Map(positions.map((position, ply) => [Rules.toSfen(position, 1), ply]));

  // the share that a line leaves to the side to move in its first position, 0 to 1
  function rateOf(line) {
    if (line.mate !== null) return line.value > 0 ? 1 : 0;
    return 1 / (1 + Math.exp(-line.value / 600));
  }

  // what the analysis says of a move in a position of the game
  function known(ply, usi) {
    const lines = data.positions[ply].lines;
    const played = data.moves[ply];
    if (lines[0].pv[0] === usi) return { best: true, text: words.isBest };
    const mover = positions[ply].side;
    const rate = (at) => (mover === 0 ? data.positions[at].win_rate : 1 - data.positions[at].win_rate);
    const loses = (left) => fill(words.loses, percent(Math.max(0, rate(ply) - left)));
    if (played && played.usi === usi) return { text: fill(words.wasPlayed, loses(rate(ply + 1))), good: !isFlagged(played) };
    const line = lines.find((other) => other.pv[0] === usi);
    if (line) return { text: fill(words.inLines, loses(rateOf(line))), good: rate(ply) - rateOf(line) < 0.05 };
    const after = searched.get(Rules.toSfen(Rules.play(positions[ply], usi), 1));
    if (after !== undefined) return { text: fill(words.inGame, after, loses(rate(after))), good: rate(ply) - rate(after) < 0.05 };
    return null;
  }

  // --- what is said of a move

  function lineButtons(parent, line) {
    const walked = state.line && state.line.name === line.name && state.line.base === line.base && state.line.moves[0] === line.moves[0];
    line.text.forEach((text, i) => {
      const node = button(parent, "", text, () => show(line, i + 1));
      node.setAttribute("aria-current", String(Boolean(walked) && state.step === i + 1));
    });
    // behind the line, so that no move changes its place
    if (walked) button(parent, "leave", words.leave, () => go(state.ply));
  }

  function drawDetail() {
    const node = byId("detail");
    node.textContent = "";
    node.hidden = Boolean(state.lesson && !state.lesson.shown);
    if (!state.lesson) drawMove(node);
    // the engine's lines stand below
    if (state.line && [words.own, words.branch].includes(state.line.name)) {
      const row = add(node, "p", "line");
      add(row, "span", "score", state.line.name + " ");
      lineButtons(row, state.line);
      const comment = state.line.comments && state.step > 0 ? state.line.comments[state.step - 1] : [];
      if (comment && comment.length) add(node, "p", "comment", comment.join("\n"));
      const at = searched.get(Rules.toSfen(shown(), 1));
      const answer = state.line.name !== words.own ? null : state.step === 1 ? known(state.line.base, state.line.moves[0])
        : at !== undefined ? { text: fill(words.reached, at, percent(data.positions[at].win_rate)) } : null;
      if (state.line.name === words.own && state.step > 0) add(node, "p", "answer", answer ? answer.text : words.unknown);
    }
  }

  function drawMove(node) {
    const move = state.ply > 0 ? data.moves[state.ply - 1] : null;
    const head = add(node, "p", "move", named(state.ply));
    if (move) {
      const tag = add(head, "span", "tag", verdict(move));
      tag.style.background = words.classes[move.class].color;
      if (move.least !== move.most) tag.title = fill(words.between, words.classes[move.least].name, words.classes[move.most].name);
      if (move.book && move.book.played) add(head, "span", "tag book", words.book);
    }
    const position = data.positions[state.ply];
    const bar = add(node, "div", "rate");
    add(bar, "i").style.width = 100 * position.win_rate + "%";
    add(node, "p", "", `${words.rate} ${percent(position.win_rate)}  (${score(position.lines[0])})`);
    const said = [];
    if (move) {
      if (move.class !== "best" && move.loss > 0) {
        const margin = Math.round(100 * move.margin);
        said.push(`-${percent(move.loss)}${margin > 0 ? ` ±${margin}` : ""}`);
      }
      if (move.best && move.class !== "best") said.push(`${words.best} ${move.best}`);
      if (move.book && !move.book.played) said.push(`${words.book} ${move.book.moves.slice(0, 3).join(" ")}`);
      if (move.missed_mate !== null) said.push(fill(words.missed, move.missed_mate));
      if (move.allowed_mate !== null) said.push(fill(words.allowed, move.allowed_mate));
      if (move.time !== null && timed) said.push(`${words.time} ${clock(move.time)}`);
      if (state.ply === last && data.ending) said.push(data.ending);
    }
    if (said.length) add(node, "p", "", said.join("　"));
    const comments = move ? move.comments : data.comments;
    if (comments.length) add(node, "p", "comment", comments.join("\n"));
    if (state.ply > 0 || state.line || !data.turning_points.length) return;
    add(node, "h2", "", words.turns);
    const list = add(node, "ol", "turns");
    for (const point of data.turning_points) button(add(list, "li"), "", point.text, () => go(point.ply));
  }

  // at a bad move: the engine's line beside the one that was played
  function drawCompare() {
    const node = byId("compare");
    node.textContent = "";
    const move = compared();
    if (!move) return;
    const base = move.ply - 1;
    const before = data.positions[base].lines[0];
    const after = data.positions[base + 1].lines[0];
    const rows = [
      [words.playedLine, move.class, { base, moves: [move.usi, ...after.pv], text: [move.text, ...after.text] }, move.after],
      [words.bestLine, "best", { base, moves: before.pv, text: before.text }, move.before],
    ];
    for (const [name, kind, line, rate] of rows) {
      const row = add(node, "div", "line side");
      row.style.borderColor = words.classes[kind].color;
      add(row, "div", "score", fill(words.leaves, name, words.sides[positions[base].side], percent(rate)));
      lineButtons(row, { ...line, name });
    }
  }

  function drawLines() {
    const node = byId("lines");
    node.textContent = "";
    const hidden = Boolean(state.lesson && !state.lesson.shown);
    byId("lines-name").hidden = node.hidden = hidden;
    byId("lines-name").textContent = state.ply > 0 ? fill(words.linesAfter, named(state.ply)) : words.linesAtStart;
    data.positions[state.ply].lines.forEach((found, index) => {
      const row = add(node, "div", "line");
      const depth = found.depth > 0 ? `  ${words.depth} ${found.depth}/${found.seldepth}` : "";
      add(row, "div", "score", `${index + 1}. ${score(found)}${depth}`);
      lineButtons(row, { base: state.ply, moves: found.pv, text: found.text, name: `${words.variation} ${index + 1}` });
    });
  }

  // --- the graphs: as wide as they are shown, so that their text keeps its size

  const LEFT = 44, RIGHT = 10, TOP = 24, HEIGHT = 206, FOOT = 20, BARS = 70;
  const graph = byId("graph"), times = byId("times");
  const width = () => Math.max(280, graph.clientWidth || graph.parentElement.clientWidth - 22);
  const x = (ply) => LEFT + ((width() - LEFT - RIGHT) * ply) / Math.max(1, last);
  const CP = 2000;

  function height(ply) {
    const { win_rate, lines } = data.positions[ply];
    const cp = lines[0].mate !== null ? CP * Math.sign(lines[0].cp) : Math.max(-CP, Math.min(CP, lines[0].cp));
    const part = byId("centipawns").checked ? (cp + CP) / (2 * CP) : win_rate;
    return TOP + (HEIGHT - TOP - FOOT) * (1 - part);
  }

  function drawGraph() {
    graph.textContent = "";
    graph.setAttribute("viewBox", `0 0 ${width()} ${HEIGHT}`);
    const cp = byId("centipawns").checked;
    element(graph, "text", { x: 2, y: 12 }, cp ? words.axisCp : words.axisRate);
    for (let i = 0; i <= 4; i++) {
      const y = TOP + ((HEIGHT - TOP - FOOT) * i) / 4;
      element(graph, "line", { class: "grid", x1: LEFT, x2: width() - RIGHT, y1: y, y2: y, "stroke-width": i === 2 ? 1.6 : 0.7 });
      element(graph, "text", { x: LEFT - 5, y: y + 4, "text-anchor": "end" }, cp ? CP - i * (CP / 2) : 100 - 25 * i);
    }
    const most = Math.max(2, Math.floor(width() / 60));
    const step = [1, 2, 5, 10, 20, 25, 50, 100, 200].find((n) => last / n <= most) || 500;
    for (let ply = 0; ply <= last; ply += step) {
      element(graph, "text", { x: x(ply), y: HEIGHT - 5, "text-anchor": "middle" }, ply);
    }
    const points = data.positions.map((_, ply) => `${x(ply).toFixed(1)},${height(ply).toFixed(1)}`).join(" ");
    const middle = TOP + (HEIGHT - TOP - FOOT) / 2;
    element(graph, "polygon", { class: "area", points: `${x(0)},${middle} ${points} ${x(last)},${middle}` });
    element(graph, "polyline", { class: "curve", points });
    for (const move of data.moves.filter(isFlagged)) {
      const r = isBad(move) ? 4.5 : 2.5;
      element(graph, "circle", { cx: x(move.ply), cy: height(move.ply), r, fill: words.classes[move.class].color });
    }
    element(graph, "line", { id: "cursor", class: "cursor", y1: TOP, y2: HEIGHT - FOOT });
    drawTimes();
    moveCursor();
  }

  function drawTimes() {
    const longest = Math.max(...data.moves.map((move) => move.time || 0));
    times.style.display = longest > 0 ? "" : "none";
    times.textContent = "";
    times.setAttribute("viewBox", `0 0 ${width()} ${BARS}`);
    element(times, "text", { x: 2, y: 12 }, fill(words.axisTime, clock(longest)));
    element(times, "line", { class: "grid", x1: LEFT, x2: width() - RIGHT, y1: BARS - 2, y2: BARS - 2 });
    const bar = Math.min(12, Math.max(1, (width() - LEFT - RIGHT) / Math.max(1, last) - 1));
    for (const move of data.moves) {
      const tall = longest > 0 ? ((BARS - TOP - 2) * (move.time || 0)) / longest : 0;
      element(times, "rect", { class: move.side, x: x(move.ply) - bar / 2, y: BARS - 2 - tall, width: bar, height: tall });
    }
  }

  function moveCursor() {
    const cursor = byId("cursor");
    cursor.setAttribute("x1", x(state.ply));
    cursor.setAttribute("x2", x(state.ply));
    point(state.ply);
  }

  function point(ply) {
    const move = data.moves[ply - 1];
    const parts = [named(ply), percent(data.positions[ply].win_rate), score(data.positions[ply].lines[0])];
    if (move && isFlagged(move) && !(state.lesson && !state.lesson.shown)) parts.push(verdict(move));
    if (move && move.time !== null && timed) parts.push(clock(move.time));
    byId("pointed").textContent = parts.join("  ");
  }

  for (const svg of [graph, times]) {
    const plyAt = (event) => {
      const box = svg.getBoundingClientRect();
      const part = ((event.clientX - box.left) / box.width) * width();
      return Math.min(last, Math.max(0, Math.round(((part - LEFT) / (width() - LEFT - RIGHT)) * last)));
    };
    svg.addEventListener("pointerdown", (event) => {
      // a pointer that a test makes up cannot be captured
      try { svg.setPointerCapture(event.pointerId); } catch { /* the drag ends at the edge */ }
      go(plyAt(event));
    });
    svg.addEventListener("pointermove", (event) => (event.buttons ? go(plyAt(event)) : point(plyAt(event))));
    svg.addEventListener("pointerleave", () => point(state.ply));
  }
  window.addEventListener("resize", drawGraph);
  byId("centipawns").addEventListener("change", drawGraph);

  // --- drawing and walking

  function draw() {
    const position = shown();
    drawBoard(position);
    drawHands(position);
    drawLesson();
    drawDetail();
    drawCompare();
    drawLines();
    const inLine = state.line ? ` ${state.line.name}: ${state.line.text.slice(0, state.step).join(" ")}` : "";
    byId("board").setAttribute("aria-label", named(state.ply) + inLine);
    const slider = byId("slider");
    slider.value = state.ply;
    slider.setAttribute("aria-valuetext", named(state.ply));
    moveCursor();
    for (const node of byId("moves").querySelectorAll("button[data-ply]")) {
      const current = Number(node.dataset.ply) === state.ply;
      node.setAttribute("aria-current", String(current));
      if (!current) continue;
      const list = byId("moves"), item = node.parentElement;
      const outside = item.offsetTop < list.scrollTop || item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight;
      if (outside) list.scrollTop = item.offsetTop - list.clientHeight / 2;
    }
    history.replaceState(null, "", "#" + state.ply);
  }

  function go(ply) {
    Object.assign(state, { ply: Math.min(last, Math.max(0, ply)), line: null, step: 0, selected: null });
    byId("promotion").hidden = true;
    draw();
  }

  // shows a line of moves, some steps into it
  function show(line, step) {
    Object.assign(state, { line, step, selected: null });
    draw();
  }

  // within a line the arrows walk the line
  function walk(by) {
    if (!state.line) return go(state.ply + by);
    const step = Math.min(state.line.moves.length, state.step + by);
    if (step <= 0) return go(state.ply);
    show(state.line, step);
  }

  const bad = data.moves.filter(isFlagged).map((move) => move.ply);
  const nextBad = () => go(bad.find((ply) => ply > state.ply) ?? last);
  const previousBad = () => go(bad.filter((ply) => ply < state.ply).pop() ?? 0);
  const flip = () => { state.flipped = !state.flipped; draw(); };

  // brings what is said of a move into view, where a button elsewhere on the page leads to it
  function reveal() {
    const [play, reading] = [".play", ".reading"].map((name) => document.querySelector(name).getBoundingClientRect());
    const least = play.left === reading.left ? play.bottom : 0;
    if (reading.top < least || reading.top > window.innerHeight - 100) window.scrollTo(0, document.querySelector("main").offsetTop);
  }

  // --- learning from mistakes: the position before one, and the analysis as the teacher

  // whether the position of the present question is shown, or a line from it
  function isQuestioned() {
    return Boolean(state.lesson) && state.ply === state.lesson.plies[state.lesson.at] - 1;
  }

  function lesson(color) {
    const plies = data.moves.filter((move) => isQuestion(move) && move.side === color).map((move) => move.ply);
    state.lesson = { plies, at: 0, shown: false, said: "" };
    state.flipped = color === "white";
    go(plies[0] - 1);
    reveal();
  }

  function answer(usi) {
    const ply = state.lesson.plies[state.lesson.at] - 1;
    const found = known(ply, usi);
    const move = spell(positions[ply], usi);
    const right = Boolean(found && (found.best || found.good));
    state.lesson.said = `${move}: ${found ? found.text : words.unknown}${right ? "" : words.again}`;
    state.lesson.shown ||= right;
    draw();
  }

  function nextLesson() {
    state.lesson.at += 1;
    state.lesson.shown = false;
    state.lesson.said = "";
    if (state.lesson.at >= state.lesson.plies.length) state.lesson = null;
    go(state.lesson ? state.lesson.plies[state.lesson.at] - 1 : state.ply);
  }

  function drawLesson() {
    const node = byId("lesson");
    node.textContent = "";
    node.hidden = !state.lesson;
    if (!state.lesson) return;
    const { plies, at, said } = state.lesson;
    const move = data.moves[plies[at] - 1];
    add(node, "p", "move", fill(words.question, at + 1, plies.length, plies[at], move.text));
    add(node, "p", "answer", said || words.howTo);
    const bar = add(node, "div", "bar");
    if (!state.lesson.shown) {
      button(bar, "", words.showAnswer, () => {
        state.lesson.shown = true;
        state.lesson.said = fill(words.answer, move.best);
        go(plies[at] - 1);
      });
    }
    button(bar, "", at + 1 < plies.length ? words.nextLesson : words.endLesson, nextLesson);
    if (at + 1 < plies.length) button(bar, "", words.endLesson, () => { state.lesson = null; draw(); });
  }

  ["black", "white"].forEach((color, i) => {
    const count = data.moves.filter((move) => isQuestion(move) && move.side === color).length;
    const node = button(byId("learning"), "", `${words.sides[i]} (${count})`, () => lesson(color));
    node.id = "learn-" + color;
    node.disabled = count === 0;
  });

  // --- the list of moves, with the record's variations behind the moves they stand beside

  function listed(ply, text, rate, move) {
    const item = add(byId("moves"), "li");
    const node = button(item, "", undefined, () => { state.lesson = null; go(ply); });
    node.dataset.ply = ply;
    add(node, "span", "ply", ply);
    add(node, "span", "text", text);
    if (move && move.class !== "good") {
      const name = add(node, "span", "class", verdict(move));
      name.style.color = words.classes[move.class].color;
    }
    if (move && move.book && move.book.played) add(node, "span", "book", words.inBook).title = words.book;
    const comments = move ? move.comments : data.comments;
    if (comments.length) add(node, "span", "note", "✎").title = words.comment;
    add(node, "span", "percent", percent(rate));
    for (const line of data.variations.filter((line) => line.base + 1 === ply)) {
      const name = fill(words.sideLine, line.text.slice(0, line.own + 1).join(" "));
      button(item, "branch", name, () => {
        state.lesson = null;
        go(line.base);
        show({ ...line, name: words.branch }, line.own + 1);
        reveal();
      });
    }
  }
  listed(0, words.start, data.positions[0].win_rate, null);
  for (const move of data.moves) listed(move.ply, move.text, data.positions[move.ply].win_rate, move);
  if (data.ending) add(byId("moves"), "li", "ending", data.ending);

  // --- what the reader does

  byId("slider").max = last;
  byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  byId("first").addEventListener("click", () => go(0));
  byId("back").addEventListener("click", () => walk(-1));
  byId("forward").addEventListener("click", () => walk(1));
  byId("last").addEventListener("click", () => go(last));
  byId("previous-mistake").addEventListener("click", previousBad);
  byId("next-mistake").addEventListener("click", nextBad);
  byId("previous-mistake").disabled = byId("next-mistake").disabled = bad.length === 0;
  byId("flip").addEventListener("click", flip);
  for (const node of document.querySelectorAll(".turns button")) {
    node.addEventListener("click", () => {
      state.lesson = null;
      go(Number(node.dataset.ply));
      reveal();
    });
  }

  // a piece of the side to move is picked up, then put down on a square; elsewhere the right half of the board is
  // forward, the left half back
  byId("board").addEventListener("click", (event) => {
    const box = byId("board").getBoundingClientRect();
    const scale = Math.min(box.width, box.height) / 430;
    const left = box.left + (box.width - 430 * scale) / 2;
    let column = Math.floor(((event.clientX - left) / scale - EDGE) / CELL);
    let row = Math.floor(((event.clientY - box.top) / scale - HEAD) / CELL);
    const inside = column >= 0 && column < 9 && row >= 0 && row < 9;
    if (state.flipped) { column = 8 - column; row = 8 - row; }
    const sq = inside ? (8 - column) * 9 + row : null;
    const position = shown();
    const name = inside ? Rules.name(sq) : "";
    if (inside && targets(position).some((move) => move.slice(2, 4) === name)) return tryTarget(name);
    if (inside && position.board[sq] && position.board[sq].color === position.side) return select(name);
    if (state.selected) return select(null);
    if (!state.lesson) walk(event.clientX - box.left > box.width / 2 ? 1 : -1);
  });

  byId("own-move").addEventListener("focus", () => {
    const list = byId("legal");
    list.textContent = "";
    const position = shown();
    for (const move of legalMoves(position)) {
      const option = add(list, "option");
      option.value = move;
      option.label = spell(position, move);
    }
  });
  // a move as it is typed: without its mark, with digits of any kind
  const digit = (c) => 1 + Math.max(DIGITS.indexOf(c), NUMERALS.indexOf(c));
  const plain = (text) => text.replace(/[▲△☗☖\s]/g, "").replace(/[１-９一二三四五六七八九]/g, digit).toLowerCase();

  byId("own").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("own-move").value.trim();
    const position = shown();
    const move = legalMoves(position).find((other) => [other, spell(position, other)].some((name) => plain(name) === plain(text)));
    byId("own-answer").textContent = move ? "" : fill(words.illegal, text);
    byId("own-move").value = "";
    if (!move) return;
    tryMove(move);
    reveal();
  });

  async function copy(text) {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // a page from a file may have no clipboard
      const area = add(document.body, "textarea");
      area.value = text;
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    byId("copied").textContent = done ? words.copied : words.notCopied;
  }

  function save(text, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  const number = Number(data.root.split(" ")[3] || 1);
  byId("copy-sfen").addEventListener("click", () => {
    const plies = state.line ? state.line.base + state.step : state.ply;
    copy(Rules.toSfen(shown(), number + plies));
  });
  byId("copy-kif").addEventListener("click", () => copy(data.kif));
  byId("copy-csa").addEventListener("click", () => copy(data.csa));
  byId("save-kif").addEventListener("click", () => save(data.kif, "game.kifu"));
  byId("save-csa").addEventListener("click", () => save(data.csa, "game.csa"));

  byId("ranks").value = japanese ? NUMERALS : "123456789";
  for (const id of ["ranks", "pieces"]) byId(id).addEventListener("change", draw);
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  function escape() {
    if (state.selected) return select(null);
    if (!state.line) state.lesson = null;
    go(state.ply);
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = event.target instanceof HTMLElement && event.target.matches("input:not([type=range]):not([type=checkbox]), select");
    if (typing && event.key !== "Escape") return;
    const keys = {
      ArrowLeft: () => walk(-1), ArrowRight: () => walk(1), ArrowUp: previousBad, ArrowDown: nextBad,
      Home: () => go(0), End: () => go(last), Escape: escape, f: flip, F: flip, t: () => byId("own-move").focus(),
      n: () => state.lesson && nextLesson(),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  window.addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
  drawGraph();
  go(Number(location.hash.slice(1)) || 0);
})();
