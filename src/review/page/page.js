"use strict";
(() => {
  const data = JSON.parse(document.getElementById("game").textContent);
  const words = data.words;
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const KANJI = { P: "歩", L: "香", N: "桂", S: "銀", G: "金", B: "角", R: "飛", K: "玉",
    "+P": "と", "+L": "杏", "+N": "圭", "+S": "全", "+B": "馬", "+R": "龍" };
  const HAND = ["R", "B", "G", "S", "N", "L", "P"];

  // --- positions: squares by file * 9 + rank, each null or { kind, color } with Black 0

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

  const square = (text) => (Number(text[0]) - 1) * 9 + text.charCodeAt(1) - 97;

  function play(position, usi) {
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

  const positions = [parseSfen(data.root)];
  for (const move of data.moves) positions.push(play(positions[positions.length - 1], move.usi));
  const last = data.moves.length;

  // --- what is shown: a position of the game, or one some moves into a line of it

  const state = { ply: 0, line: null, step: 0, flipped: false };

  function shown() {
    let position = positions[state.ply];
    if (state.line !== null) {
      for (const usi of data.positions[state.ply].lines[state.line].pv.slice(0, state.step)) {
        // a win that is declared moves nothing
        if (usi !== "win") position = play(position, usi);
      }
    }
    return position;
  }

  function element(parent, name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  const CELL = 44, EDGE = 12, HEAD = 22;

  function drawBoard(position) {
    const svg = byId("board");
    svg.textContent = "";
    const at = (sq) => {
      let column = 8 - Math.floor(sq / 9), row = sq % 9;
      if (state.flipped) { column = 8 - column; row = 8 - row; }
      return [EDGE + column * CELL, HEAD + row * CELL];
    };
    element(svg, "rect", { class: "ground", x: EDGE, y: HEAD, width: 9 * CELL, height: 9 * CELL });
    for (const [sq, name] of [[position.from, "from"], [position.to, "to"]]) {
      if (sq === null) continue;
      const [x, y] = at(sq);
      element(svg, "rect", { class: name, x, y, width: CELL, height: CELL });
    }
    for (let i = 0; i <= 9; i++) {
      const a = EDGE + i * CELL, b = HEAD + i * CELL;
      element(svg, "line", { class: "rule", x1: a, x2: a, y1: HEAD, y2: HEAD + 9 * CELL });
      element(svg, "line", { class: "rule", x1: EDGE, x2: EDGE + 9 * CELL, y1: b, y2: b });
    }
    for (let i = 0; i < 9; i++) {
      const n = state.flipped ? i + 1 : 9 - i;
      element(svg, "text", { class: "label", x: EDGE + (i + 0.5) * CELL, y: HEAD - 6 }, "１２３４５６７８９"[n - 1]);
      const r = state.flipped ? 8 - i : i;
      element(svg, "text", { class: "label", x: EDGE + 9 * CELL + 11, y: HEAD + (i + 0.62) * CELL }, "一二三四五六七八九"[r]);
    }
    position.board.forEach((piece, sq) => {
      if (!piece) return;
      const [x, y] = at(sq);
      const turned = (piece.color === 1) !== state.flipped;
      const group = element(svg, "g", { transform: `translate(${x + CELL / 2} ${y + CELL / 2})${turned ? " rotate(180)" : ""}` });
      element(group, "path", { class: "shape", d: "M0 -20 L13 -15 L17 19 L-17 19 L-13 -15 Z" });
      const promoted = piece.kind[0] === "+";
      element(group, "text", { class: promoted ? "kanji promoted" : "kanji", y: 12 }, KANJI[piece.kind]);
    });
  }

  function drawHands(position) {
    for (const color of [0, 1]) {
      const top = (color === 1) !== state.flipped;
      const node = byId(top ? "hand-top" : "hand-bottom");
      node.textContent = "";
      const name = document.createElement("b");
      name.textContent = data.names[color];
      const pieces = document.createElement("span");
      const held = HAND.filter((kind) => position.inHand[color][kind] > 0)
        .map((kind) => KANJI[kind] + (position.inHand[color][kind] > 1 ? position.inHand[color][kind] : ""));
      pieces.textContent = held.join(" ") || words.none;
      pieces.setAttribute("aria-label", words.hand + " " + pieces.textContent);
      node.append(name, pieces);
    }
  }

  const percent = (rate) => Math.round(100 * rate) + "%";

  function score(line) {
    if (line.mate === null) return (line.cp > 0 ? "+" : "") + line.cp;
    return words.sides[line.cp > 0 ? 0 : 1] + " " + Math.abs(line.mate) + words.mate;
  }

  function paragraph(parent, text, name) {
    const node = document.createElement("p");
    node.textContent = text;
    if (name) node.className = name;
    parent.appendChild(node);
    return node;
  }

  function drawDetail() {
    const node = byId("detail");
    node.textContent = "";
    const move = state.ply > 0 ? data.moves[state.ply - 1] : null;
    const head = paragraph(node, move ? `${move.ply}. ${move.text}` : words.start, "move");
    if (move) {
      const tag = document.createElement("span");
      tag.className = "tag";
      tag.style.background = words.classes[move.class].color;
      tag.textContent = words.classes[move.class].name;
      head.appendChild(tag);
      if (move.book && move.book.played) {
        const known = document.createElement("span");
        known.className = "tag book";
        known.textContent = words.book;
        head.appendChild(known);
      }
    }
    const rate = data.positions[state.ply].win_rate;
    const bar = document.createElement("div");
    bar.className = "rate";
    const part = document.createElement("i");
    part.style.width = 100 * rate + "%";
    bar.appendChild(part);
    node.appendChild(bar);
    paragraph(node, `${words.rate} ${percent(rate)}  (${score(data.positions[state.ply].lines[0])})`);
    if (!move) return;
    const said = [];
    if (move.class !== "best") said.push(`-${percent(move.loss)}`);
    if (move.best && move.class !== "best") said.push(`${words.best} ${move.best}`);
    if (move.book && !move.book.played) said.push(`${words.book} ${move.book.moves.slice(0, 3).join(" ")}`);
    if (move.missed_mate !== null) said.push(move.missed_mate + words.missed);
    if (move.allowed_mate !== null) said.push(move.allowed_mate + words.allowed);
    if (move.time !== null) said.push(`${words.time} ${Math.floor(move.time / 60)}:${String(Math.floor(move.time % 60)).padStart(2, "0")}`);
    if (said.length) paragraph(node, said.join("　"));
    if (move.comments.length) paragraph(node, move.comments.join("\n"), "comment");
  }

  function drawLines() {
    const node = byId("lines");
    node.textContent = "";
    data.positions[state.ply].lines.forEach((line, index) => {
      const row = document.createElement("div");
      row.className = "line";
      const about = document.createElement("div");
      about.className = "score";
      about.textContent = `${index + 1}. ${score(line)}  ${words.depth} ${line.depth}/${line.seldepth}`;
      row.appendChild(about);
      line.text.forEach((text, i) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = text;
        button.setAttribute("aria-current", String(state.line === index && state.step === i + 1));
        button.addEventListener("click", () => { state.line = index; state.step = i + 1; draw(); });
        row.appendChild(button);
      });
      node.appendChild(row);
    });
  }

  const [LEFT, RIGHT, WIDTH, TOP, BOTTOM] = data.graph;
  const cursor = element(byId("graph"), "line", { id: "cursor", y1: TOP, y2: BOTTOM, stroke: "var(--accent)", "stroke-width": 2, "stroke-dasharray": "4 3" });

  function draw() {
    const position = shown();
    drawBoard(position);
    drawHands(position);
    drawDetail();
    drawLines();
    const text = state.ply > 0 ? `${state.ply}. ${data.moves[state.ply - 1].text}` : words.start;
    const inLine = state.line === null ? "" : ` ${words.variation}: ${data.positions[state.ply].lines[state.line].text.slice(0, state.step).join(" ")}`;
    byId("board").setAttribute("aria-label", text + inLine);
    const slider = byId("slider");
    slider.value = state.ply;
    slider.setAttribute("aria-valuetext", text);
    const x = LEFT + ((RIGHT - LEFT) * state.ply) / Math.max(1, last);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    for (const button of byId("moves").querySelectorAll("button")) {
      const current = Number(button.dataset.ply) === state.ply;
      button.setAttribute("aria-current", String(current));
      if (current) {
        const list = byId("moves"), item = button.parentElement;
        const outside = item.offsetTop < list.scrollTop || item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight;
        if (outside) list.scrollTop = item.offsetTop - list.clientHeight / 2;
      }
    }
    history.replaceState(null, "", "#" + state.ply);
  }

  function go(ply) {
    state.ply = Math.min(last, Math.max(0, ply));
    state.line = null;
    state.step = 0;
    draw();
  }

  // within a line the arrows walk the line
  function walk(by) {
    if (state.line === null) return go(state.ply + by);
    const length = data.positions[state.ply].lines[state.line].text.length;
    state.step = Math.min(length, state.step + by);
    if (state.step <= 0) { state.line = null; state.step = 0; }
    draw();
  }

  const bad = data.moves.filter((move) => move.class === "mistake" || move.class === "blunder").map((move) => move.ply);
  const nextBad = () => go(bad.find((ply) => ply > state.ply) ?? last);
  const previousBad = () => go(bad.filter((ply) => ply < state.ply).pop() ?? 0);
  const flip = () => { state.flipped = !state.flipped; draw(); };

  // --- the list of moves

  function listed(ply, text, rate, move) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.ply = ply;
    const part = (name, content) => {
      const node = document.createElement("span");
      node.className = name;
      node.textContent = content;
      button.appendChild(node);
      return node;
    };
    part("ply", ply);
    part("text", text);
    if (move && move.class !== "good") {
      const name = part("class", words.classes[move.class].name);
      name.style.color = words.classes[move.class].color;
    }
    if (move && move.book && move.book.played) part("book", words.inBook).title = words.book;
    part("percent", percent(rate));
    button.addEventListener("click", () => go(ply));
    item.appendChild(button);
    byId("moves").appendChild(item);
  }
  listed(0, words.start, data.positions[0].win_rate, null);
  for (const move of data.moves) listed(move.ply, move.text, data.positions[move.ply].win_rate, move);
  if (data.ending) {
    const item = document.createElement("li");
    item.textContent = data.ending;
    item.style.paddingLeft = "3.2em";
    byId("moves").appendChild(item);
  }

  // --- what the user does

  byId("slider").max = last;
  byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  byId("first").addEventListener("click", () => go(0));
  byId("back").addEventListener("click", () => walk(-1));
  byId("forward").addEventListener("click", () => walk(1));
  byId("last").addEventListener("click", () => go(last));
  byId("previous-mistake").addEventListener("click", previousBad);
  byId("next-mistake").addEventListener("click", nextBad);
  byId("flip").addEventListener("click", flip);
  for (const button of document.querySelectorAll(".turns button")) {
    button.addEventListener("click", () => go(Number(button.dataset.ply)));
  }
  byId("graph").addEventListener("click", (event) => {
    const box = byId("graph").getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    go(Math.round(((x - LEFT) / (RIGHT - LEFT)) * last));
  });
  // the right half of the board is forward, the left half back
  byId("board").addEventListener("click", (event) => {
    const box = byId("board").getBoundingClientRect();
    walk(event.clientX - box.left > box.width / 2 ? 1 : -1);
  });
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const keys = {
      ArrowLeft: () => walk(-1), ArrowRight: () => walk(1), ArrowUp: previousBad, ArrowDown: nextBad,
      Home: () => go(0), End: () => go(last), Escape: () => go(state.ply), f: flip, F: flip,
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  window.addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
  go(Number(location.hash.slice(1)) || 0);
})();
