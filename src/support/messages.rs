//! The messages of `convert`, `mate`, `match` and `book`, in Japanese and in English. A function is a
//! message; its arguments are the values in the text, in English as [`Number`]: `{games:#}` is the `s` of
//! `{games}`.

use super::lang::Lang;
use std::fmt::{self, Display, Formatter};

macro_rules! messages {
    ($($name:ident($($value:ident),*) $ja:literal, $en:literal;)*) => {$(
        #[cfg_attr(not(feature = "cli"), allow(dead_code))]
        pub(crate) fn $name($($value: impl Display),*) -> String {
            match Lang::of_process() {
                Lang::Ja => format!($ja),
                Lang::En => {
                    $(let $value = Number($value);)*
                    format!($en)
                }
            }
        }
    )*};
}

// common to several commands
messages! {
    unfinished()
        "途中で中断しました。同じコマンドを（--resumeのあるものは--resumeを付けて）実行すると、続きから再開します",
        "stopped before the end; run the same command again to continue (with --resume, where it has that flag)";
    stopped()
        "中断しました",
        "stopped";
    exists(path)
        "{path}: 既に存在するため書き込みません。上書きするには--forceを付けてください",
        "{path} exists; use --force to overwrite it";
    is_directory(path)
        "{path}: ファイルではなくディレクトリです",
        "{path} is a directory";
    no_directory(path, dir)
        "{path}: ディレクトリ{dir}がありません",
        "{path}: no directory {dir}";
    nothing_left()
        "指し手が一つも残らないため、何も書き込みませんでした",
        "no move is left; nothing was written";
    no_place(path, format, lost)
        "{path}: {format}形式では次の情報が失われます: {lost}",
        "{path}: {format} cannot store {lost}";
}

// positions of the command line
messages! {
    bad_sfen(why)
        "SFENが正しくありません（{why}）",
        "bad SFEN: {why}";
    move_refused(number, text, why)
        "{number}手目「{text}」: {why}",
        "move {number}: {text}: {why}";
}

// records
messages! {
    not_a_record(path)
        "{path}: 棋譜の拡張子ではないため読み飛ばします",
        "{path}: skipped, because its extension is not that of a game record";
    no_record_in(dir)
        "{dir}: このディレクトリに棋譜がありません",
        "{dir}: no game record in this directory";
    damaged(path, encoding)
        "{path}: {encoding}として正しくないバイトがあり、\u{fffd}に置き換えました",
        "{path}: bytes that are not valid {encoding} were replaced by \u{fffd}";
    unknown_format(formats)
        "棋譜の形式を判別できません。--fromで指定してください（{formats}）",
        "not a recognized game record; give its format with --from ({formats})";
    other_format(path, name, format)
        "{path}: 拡張子は{name}形式ですが、内容は{format}形式です",
        "{path}: read as {format}; it is not what {name} is";
    no_output_format()
        "出力形式が決まりません。--toで指定してください",
        "no output format; give --to";
    contradicting_format(path, named, to)
        "{path}: 拡張子は{named}形式ですが、--toは{to}です",
        "{path}: the extension means {named}, but --to is {to}";
    force_without_output()
        "--forceはファイルを上書きするオプションです。--outputか--out-dirを指定してください",
        "--force overwrites files; give --output or --out-dir";
    first_of_several(lost)
        "{lost}（失われる情報のある最初の対局の分）",
        "{lost}, in the first game that loses anything";
    files_read(whole, partly, refused)
        "読み込んだファイル: 全体{whole}、一部のみ{partly}、失敗{refused}",
        "files read: {whole} whole, {partly} partly, {refused} refused";
    games_skipped(games)
        "{games}局（または局面）を読み飛ばしました",
        "skipped games or positions: {games}";
    more_warnings(count)
        "ほかに{count}件の警告があります",
        "and {count} more warning{count:#}";
    games_unwritten(kept, all)
        "{all}局のうち{kept}局を書き込みませんでした",
        "games not written: {kept} of {all}";
    same_target(one, other, path)
        "{one}と{other}の出力先がどちらも{path}になるため、最初のものだけを書き込みます",
        "{one} and {other} would both become {path}; only the first is written";
    one_game_only(format)
        "{format}形式のファイルには1局しか書き込めません。--out-dirを指定してください",
        "a {format} file holds one game; give --out-dir";
    no_game(path)
        "{path}: 書き込む対局がありません",
        "{path}: no game to write";
    no_character(encoding, missing)
        "{encoding}には「{missing}」がありません。--encoding utf-8なら書き込めます",
        "{encoding} cannot encode `{missing}`; use --encoding utf-8";
}

// reading records
messages! {
    at_line(line, what)
        "{line}行目: {what}",
        "line {line}: {what}";
    two_in_a_row(what)
        "{what}（同じ側が続けて指しています）",
        "{what}: two moves in a row";
    no_game_in_it()
        "棋譜がありません",
        "there is no game in it";
    file_ends(what)
        "{what}。ファイルはここで途切れています",
        "{what}; the file ends here";
    named_already(text)
        "「{text}」: その対局者の名前は既にあります",
        "`{text}`: that player has a name already";
    not_a_move(text, format)
        "「{text}」は{format}形式の指し手ではありません",
        "`{text}` is not a move in {format} notation";
    move_text(text, what)
        "「{text}」: {what}",
        "`{text}`: {what}";
    not_on_origin()
        "移動元にその駒はありません",
        "that piece does not stand on the origin";
    other_turn()
        "相手の手番です",
        "it is the other player's turn";
    illegal_move_ends(what)
        "{what}。この反則手で終局とします",
        "{what}; the game ends with this illegal move";
    after_the_end(what, ending)
        "「{ending}」の後に{what}があります",
        "{what} after `{ending}`";
    nothing_to_vary(number)
        "変化の起点となる{number}手目がありません",
        "there is no move {number} to vary";
    too_deep(deepest)
        "変化の入れ子が{deepest}段を超えています",
        "more than {deepest} variations within each other";
    move_missing(number)
        "{number}手目がありません",
        "move {number} is missing";
    neither_move_nor_ending(text)
        "「{text}」は指し手でも終局でもありません",
        "`{text}` is neither a move nor an ending";
    not_a_time(text)
        "「{text}」は消費時間ではありません",
        "`{text}` is not a time";
    unknown_ending(text)
        "「{text}」という終局の種類はありません",
        "`{text}` is not an ending";
    unknown_ending_read_as(text, ending)
        "「{text}」という終局の種類はありません。「{ending}」として読みます",
        "`{text}` is not an ending; read as {ending}";
    not_this_turn(text, side)
        "「{text}」は{side}番の局面では使えません",
        "`{text}` cannot be: {side} is to move";
    not_this_format(text)
        "「{text}」はこの形式の行ではありません",
        "`{text}` is not a line of this format";
    not_a_piece(text)
        "「{text}」という駒はありません",
        "`{text}` is not a piece";
    ambiguous_move(pieces)
        "この表記に当たる駒が{pieces}枚あります",
        "{pieces} pieces can move so";
    no_piece_moves()
        "この表記に当たる駒がありません",
        "no piece can move so";
    rest_skipped(what)
        "{what}。この変化の残りは読み飛ばします",
        "{what}; the rest of the variation is skipped";
    not_a_position(text)
        "「{text}」は局面の行ではありません",
        "`{text}` does not describe a position";
    no_piece_and_square(text, found)
        "「{text}」: 「{found}」は升目と駒ではありません",
        "`{text}`: `{found}` is not a piece on a square";
    nothing_to_take_away(text, square)
        "「{text}」: {square}にその駒はありません",
        "`{text}`: there is no such piece on {square} to take away";
    square_occupied(text, square)
        "「{text}」: {square}には既に駒があります",
        "`{text}`: {square} is occupied already";
    no_piece_left(text)
        "「{text}」: その種類の駒は残っていません",
        "`{text}`: no piece of that kind is left";
    impossible_position(why)
        "局面が正しくありません（{why}）",
        "impossible position: {why}";
    before_the_moves(text)
        "「{text}」は指し手より前に書くものです",
        "`{text}` belongs before the moves";
    unknown_version(text)
        "バージョン「{text}」には対応していません",
        "version `{text}` is not known";
    nobodys_name(text)
        "「{text}」: どちらの対局者の名前かわかりません",
        "`{text}`: the name of neither player";
    no_colon(text)
        "「{text}」: コロンがありません",
        "`{text}`: a colon is missing";
    not_csa_heading(text)
        "「{text}」: CSA形式のヘッダーではありません",
        "`{text}`: not a heading of CSA";
    before_the_side(text)
        "「{text}」が手番の行より前にあります",
        "`{text}` before the side to move";
    side_of_first_move()
        "手番の行がないため、初手を指した側の手番とします",
        "the side to move is missing; it is that of the first move";
    time_without_move()
        "初手より前に消費時間があります",
        "a time before the first move";
    second_time(text)
        "「{text}」: 同じ手に2つ目の消費時間です",
        "`{text}`: a second time for one move";
    second_side()
        "手番の行が2つあります",
        "a second side to move";
    black_assumed()
        "手番の行がないまま棋譜が終わっているため、先手番とします",
        "the record ends before the side to move; Black's is assumed";
    no_side()
        "手番の行がないまま棋譜が終わっています",
        "the record ends before the side to move";
    without_diagram(text)
        "「{text}」ですが、局面図がありません",
        "`{text}` without a diagram";
    not_a_rank(text)
        "「{text}」は9升の段ではありません",
        "`{text}` is not a rank of nine squares";
    tenth_rank()
        "10段目があります",
        "a tenth rank";
    not_in_hand(text)
        "「{text}」は駒の種類と枚数ではありません",
        "`{text}` is not a kind and a number";
    diagram_ranks(ranks)
        "局面図の段数が9ではなく{ranks}です",
        "ranks of the diagram: {ranks}, instead of 9";
    same_at_first()
        "初手に「同」があります",
        "同 before the first move";
    not_on_square(square)
        "{square}にその駒はありません",
        "that piece does not stand on {square}";
    other_notation(text)
        "「{text}」はKIF形式とKI2形式のうち、もう一方の指し手です",
        "`{text}` is a move of the other of KIF and KI2";
    neither_move_nor_comment(text)
        "「{text}」は指し手でもコメントでもありません",
        "`{text}` is neither a move nor a comment";
    whose_hand(text)
        "「{text}」: どちらの持駒かわかりません",
        "`{text}` does not say whose they are";
    no_move_number(text)
        "「{text}」に手数がありません",
        "`{text}` does not number a move";
    after_move(text, plies)
        "「{text}」が{plies}手目の後にあります",
        "`{text}` after move {plies}";
    read_as_variation(number, before)
        "{before}手目の次が{number}手目なので、変化として読みます",
        "move {number} follows move {before}; read as a variation";
    open_heading()
        "ヘッダーに「]」がありません",
        "a heading without `]`";
    open_comment()
        "コメントに「}}」がありません",
        "a comment without `}}`";
    no_such_handicap(text)
        "「{text}」という手合割はありません",
        "no handicap is called `{text}`";
    heading_not_text(text)
        "ヘッダー「{text}」の値が文字列ではありません",
        "the heading `{text}` is no text";
    unknown_start(text)
        "開始局面「{text}」はありません",
        "the starting position `{text}` is not known";
    board_size()
        "盤面が9筋・9段ではありません",
        "the board has not 9 files of 9 squares";
    never_in_hand(text)
        "「{text}」は持駒になりません",
        "`{text}` cannot be in hand";
    not_a_side(number)
        "{number}は先後の番号ではありません",
        "{number} is no colour";
    not_relative(text)
        "「{text}」は相対表記ではありません",
        "`{text}` is no way to move";
    no_square(file, rank)
        "{file}筋{rank}段の升目はありません",
        "there is no square {file}, {rank}";
    no_data()
        "開始局面がOTHERですが、その内容がありません",
        "a starting position OTHER without its data";
    no_target()
        "移動先がありません",
        "goes nowhere";
    not_usi(text)
        "{text}はUSI形式の指し手ではありません",
        "{text} is not a move in USI notation";
    handicap_differs(name)
        "手合割は「{name}」ですが、initialは別の局面です",
        "手合割 is `{name}`, but `initial` is another position";
    piece_there(text, piece)
        "「{text}」: 移動元の駒は{piece}です",
        "{text}: the piece there is {piece}";
}

// analyse
messages! {
    position_read(game, games, path, position, positions, left)
        "{games}局中{game}局目 {path}  {positions}局面中{position}局面  残り{left}",
        "game {game}/{games} {path}  position {position}/{positions}  {left} left";
    analysis_written(path, endings)
        "{path}.{endings}を書き込みました",
        "wrote {path}.{endings}";
    analyses_written(path, endings)
        "{path}.{endings}を書き込みました（ほかの棋譜も同様）",
        "wrote {path}.{endings}, and the same for every other game";
    games_not_analysed(games)
        "{games}局を解析できませんでした",
        "{games} game{games:#} not analysed";
}

// mate
messages! {
    mate(plies, unit)
        "{plies}手詰（より短い詰みの有無は未確認）",
        "mate in {plies} {unit} (a shorter mate may exist)";
    shortest_mate(plies, unit)
        "{plies}手詰（最短と証明済み）",
        "mate in {plies} {unit} (no shorter mate exists)";
    without_useless(plies)
        "末尾の無駄合を除くと{plies}手",
        "length without useless interpositions (無駄合い) at the end: {plies}";
    others_unknown()
        "初手の余詰: 時間内に調べきれませんでした",
        "other first moves: not all examined in time";
    others_none()
        "初手の余詰: なし",
        "no other first move mates";
    others(moves)
        "初手の余詰: {moves}",
        "other first moves that mate (余詰): {moves}";
    no_mate()
        "不詰（証明済み）",
        "no mate (不詰), proved";
    undecided(ms)
        "{ms}ミリ秒では詰み・不詰を判定できませんでした",
        "not decided in {ms} ms";
    nodes_and_time(nodes, seconds)
        "{nodes}ノード、{seconds:.3}秒",
        "{nodes} node{nodes:#}, {seconds:.3} s";
    defenders_to_move(problems)
        "{problems}問は玉方の手番です",
        "{problems} problem{problems:#} with the defender to move";
    problems_header()
        " 番号     手数    最短    余詰     ノード  ミリ秒  初手",
        "   no  plies  shortest  others      nodes      ms  first move";
    problems_summary(problems, mates, shortest, none, open, nodes, seconds)
        "{problems}問: 詰み{mates}（うち最短と証明{shortest}）、不詰{none}、未解決{open}。{nodes}ノード、{seconds:.3}秒",
        "{problems} problem{problems:#}: {mates} mate{mates:#} ({shortest} proved shortest), {none} without a mate, \
         {open} not decided; {nodes} node{nodes:#}, {seconds:.3} s";
}

// match
messages! {
    no_limit()
        "思考の制限がありません。--nodes、--depth、--movetime、--byoyomi、--tcのいずれかを指定してください",
        "no limit: give --nodes, --depth, --movetime, --byoyomi or --tc";
    no_time(limits)
        "{limits}: 1手も指せない持ち時間です",
        "{limits}: not enough time for a single move";
    opening_too_long(most, plies)
        "--max-ply {most}: {plies}手の開始局面があります",
        "--max-ply {most}: the length of an opening is {plies}";
    resign_moves_alone()
        "--resign 0では--resign-movesは意味を持ちません",
        "--resign-moves has no effect with --resign 0";
    sprt_of_two()
        "逐次検定（SPRT）は2つのエンジンの間でだけ行えます",
        "a sequential test needs exactly two engines";
    two_engines()
        "対局には2つ以上のエンジンが必要です。--engine（--configのファイルでは[[engine]]）を2つ以上指定してください",
        "a match needs two engines: give --engine, or [[engine]] in the file of --config, at least twice";
    few_processors(processors, jobs)
        "--affinity: 同時に{jobs}局を指すには同数のプロセッサが必要ですが、使えるのは{processors}個です",
        "--affinity: {jobs} concurrent game{jobs:#} need as many processors; there are {processors}";
    narrow_share(engine, threads, processors)
        "--affinity: {engine}はThreads={threads}ですが、1局に割り当てられるプロセッサは{processors}個です",
        "--affinity: {engine} has Threads={threads}, but each game has {processors} processor{processors:#}";
    no_affinity()
        "--affinityはLinuxでのみ使えます",
        "--affinity works on Linux only";
    few_openings(openings, pairs)
        "警告: ノード数か深さだけの制限で{pairs}組の対局に対し、開始局面が{openings}種類しかありません。同じ対局が\
         繰り返されると、結果が実際より確からしく見えます",
        "warning: {openings} different opening{openings:#} for {pairs} pair{pairs:#} of games, limited by nodes or \
         depth: games may repeat, and then the result looks more certain than it is";
    one_thread(engine)
        "{engine}: 1スレッドで思考します。変えるにはこのエンジンの--engineにThreads=Nを加えてください",
        "{engine}: Threads=1; add Threads=N to its --engine to change that";
    shared_nodes(engine, threads)
        "{engine}: ノード数の制限とThreads={threads}を併用すると、ノードをスレッドで分け合い、同じ対局は再現されません",
        "{engine}: Threads={threads} with a node limit: the threads share the nodes, and games do not repeat";
    fault(game, engine, reason, ply, detail)
        "第{game}局: {engine}が{ply}手目で{reason}（{detail}）",
        "game {game}: {engine}: {reason} at move {ply} ({detail})";
    games_of(played, all)
        "{all}局中{played}局",
        "{played}/{all} games";
    faults(count)
        "反則・異常{count}",
        "faults {count}";
    time_left(elapsed, left)
        "経過{elapsed} 残り{left}",
        "{elapsed}, {left} left";
    pairs(two, one_and_half, one, half, none)
        "先後1組の得点 2点:{two} 1.5点:{one_and_half} 1点:{one} 0.5点:{half} 0点:{none}",
        "pairs by points 2: {two}, 1.5: {one_and_half}, 1: {one}, 0.5: {half}, 0: {none}";
    elo_above(elo)
        "Elo {elo:+.1}以上（95 %、片側）",
        "Elo above {elo:+.1} (95 %, one-sided)";
    elo_below(elo)
        "Elo {elo:+.1}以下（95 %、片側）",
        "Elo below {elo:+.1} (95 %, one-sided)";
    sprt_h0(elo)
        "採択: {elo} Elo以下",
        "accepted: no more than {elo} Elo";
    sprt_h1(elo)
        "採択: {elo} Elo以上",
        "accepted: at least {elo} Elo";
    sprt_open()
        "未決着",
        "undecided";
    match_summary(games, plies, black, white, draws, reasons)
        "{games}局（平均{plies:.0}手）: 先手{black}勝、後手{white}勝、引き分け{draws}。{reasons}",
        "{games} game{games:#} of {plies:.0} moves; Black wins {black}, White {white}, {draws} draw{draws:#}; {reasons}";
    no_faults()
        "反則・異常なし",
        "no faults";
    engine_summary(name, depth, nodes, ms, speed, faults)
        "{name}: 平均深さ{depth:.1}、1手平均{nodes:.0}ノード・{ms:.1}ミリ秒、毎秒{speed:.0}ノード。{faults}",
        "{name}: depth {depth:.1}, {nodes:.0} nodes and {ms:.1} ms a move, {speed:.0} nodes/s; {faults}";
    interrupted()
        "中断",
        "interrupted";
}

// book
messages! {
    no_book_format(path)
        "{path}: 定跡の形式が決まりません。--toにdb、ybb、bin、sbkのいずれかを指定してください",
        "{path}: unknown format; give --to db, ybb, bin or sbk";
    book_written(positions, moves, path)
        "{positions}局面、{moves}手を{path}に書き込みました",
        "wrote {path}: {positions} position{positions:#}, {moves} move{moves:#}";
    positions_once(path, dropped)
        "{path}: 同じ局面は最小の手数のものにまとめました。引き継がなかったもの: {dropped}",
        "{path}: each position stands once, at its smallest move number; dropped: {dropped}";
    not_taken_over(path, format, lost)
        "{path}（{format}）: 引き継がないもの: {lost}",
        "{path} ({format}): dropped: {lost}";
    no_ratings()
        "--min-rating: .gamesにはレーティングがありません",
        "--min-rating: .games have no ratings";
    games_taken(read, taken)
        "{read}局を読み込み、{taken}局を採用しました",
        "{read} game{read:#} read, {taken} used";
    backed_up(positions, inner, leaves, illegal, repetitions)
        "{positions}局面、定跡内の指し手{inner}、末端{leaves}、反則手{illegal}、最善手順が千日手になる局面{repetitions}",
        "{positions} position{positions:#}; moves to another position: {inner}, to a leaf: {leaves}, illegal: {illegal}; \
         positions whose best line repeats: {repetitions}";
    backup_time(read, solved, mib)
        "読み込み{read:.1}秒、ミニマックス{solved:.1}秒、メモリ{mib} MiB",
        "read in {read:.1} s, backed up in {solved:.1} s, {mib} MiB";
    needs_depth_limit()
        "深さは定跡内の手数に置き換わりました。この定跡で指すときはBookDepthLimitを0にしてください",
        "depths are numbers of book moves now; to play from this book, set BookDepthLimit to 0";
    unnumbered(path, without, all)
        "--max-ply: {path}: {all}局面のうち{without}局面に手数がありません",
        "--max-ply: {path}: positions without a move number: {without} of {all}";
    unnumbered_lines(path, without, all)
        "{path}: {all}局面のうち{without}局面に手数がなく、それらを通る手順は--max-plyでは止まりません",
        "{path}: positions without a move number: {without} of {all}; --max-ply does not stop lines through them";
    pruned(positions, moves)
        "{positions}局面、{moves}手を取り除きました",
        "dropped: {positions} position{positions:#}, {moves} move{moves:#}";
    root_in_book()
        "定跡にない局面です。この手順で定跡にあるのは開始局面だけです",
        "not in the book; of this line it has only the starting position";
    left_book(moves, sfen)
        "定跡にない局面です。この手順で定跡にあるのは{moves}手目の局面まで:\nsfen {sfen}",
        "not in the book; the last position of this line that it has is that after {moves} move{moves:#}:\nsfen {sfen}";
    nearest_in_book(squares, sfen)
        "定跡にない局面です。最も近い局面（{squares}か所の違い）:\nsfen {sfen}",
        "not in the book; the most similar position in it ({squares} difference{squares:#}):\nsfen {sfen}";
    book_effort(searches, threads, time)
        "{searches}局面を{threads}スレッドで探索します。所要時間の目安: {time}",
        "{searches} position{searches:#} to search, about {time} on {threads} thread{threads:#}";
    book_header()
        "    指し手        評価値   深さ      回数   割合  手順",
        "    move           score  depth     count  share  line";
    illegal(mv)
        "{mv}（反則手）",
        "{mv} (illegal)";
    stats_positions(positions, black, reached)
        "局面        {positions}（先手番{black}）、平手・駒落ちの初期局面から到達できるもの{reached}",
        "positions   {positions} ({black} with Black to move), {reached} reached from the usual starting positions";
    stats_moves(moves, mean, most)
        "指し手      {moves}（1局面平均{mean:.2}、最大{most}）",
        "moves       {moves} ({mean:.2} a position, at most {most})";
    stats_targets(inside, leaves, illegal)
        "            定跡内の局面へ{inside}、定跡外へ{leaves}、反則手{illegal}",
        "            {inside} to another position, {leaves} out of the book, {illegal} illegal";
    stats_plies(first, last)
        "手数        {first}～{last}",
        "plies       {first} to {last}";
    stats_scores(scored, low, median, high)
        "評価値      {scored}手。下位5 %は{low}以下、中央値{median}、上位5 %は{high}以上",
        "scores      {scored} move{scored:#}; 5 % below {low} cp, median {median} cp, 5 % above {high} cp";
    stats_no_scores()
        "評価値      なし",
        "scores      none";
    stats_depth(deepest)
        "深さ        最大{deepest}",
        "depth       at most {deepest}";
    stats_counts(counted, games)
        "採用回数    {counted}手、合計{games}",
        "counts      {counted} move{counted:#}, {games} in all";
    stats_memory(kib)
        "メモリ      {kib} KiB",
        "memory      {kib} KiB";
    searches(done, all, speed, left)
        "{all}局面中{done}局面  毎秒{speed:.2}探索  残り{left}",
        "{done}/{all} positions  {speed:.2} searches/s  {left} left";
    searched(count, time)
        "{count}局面を探索しました（{time}）",
        "searched {count} position{count:#} in {time}";
    root_score(score, plies)
        "最初の開始局面: 先手から見た評価値{score}、最善手順の末端まで{plies}手",
        "first starting position: {score} cp for Black, {plies} book move{plies:#} to the leaf of the best line";
    leaves_written(leaves, path)
        "末端{leaves}局面を{path}に書き込みました",
        "wrote {path}: {leaves} position{leaves:#}";
    not_checked(lost)
        "検査の対象外: {lost}",
        "not checked: {lost}";
    verified(positions, moves)
        "{positions}局面、{moves}手",
        "{positions} position{positions:#}, {moves} move{moves:#}";
    unreached(count)
        "平手・駒落ちの初期局面から定跡の手順では到達できない局面: {count}",
        "positions that the book's moves do not reach from the usual starting positions: {count}";
    book_faults(path, count)
        "{path}: {count}件の誤りがあります",
        "{path}: {count} fault{count:#}";
}

/// Words that stay English in files for programs.
const WORDS: &[(&str, &str)] = &[
    // how games end
    ("mate", "詰み"),
    ("resign", "投了"),
    ("repetition", "千日手"),
    ("perpetual check", "連続王手の千日手"),
    ("declaration", "入玉宣言"),
    ("max moves", "最大手数"),
    ("adjudication", "判定"),
    ("illegal move", "反則手"),
    ("false declaration", "入玉宣言の失敗"),
    ("time loss", "時間切れ"),
    ("crash", "異常終了"),
    ("hang", "応答なし"),
    // what `mate` found, in a table
    ("nomate", "不詰"),
    ("timeout", "未解決"),
    // why it refuses a position
    (
        "Black is to move, but White has no king to mate: the defender is to move",
        "先手番ですが、後手の玉がありません（玉方の手番です）",
    ),
    (
        "White is to move, but Black has no king to mate: the defender is to move",
        "後手番ですが、先手の玉がありません（玉方の手番です）",
    ),
    ("yes", "済"),
    ("no", "未"),
    // what `book verify` finds
    ("out of order", "順序の誤り"),
    ("duplicates", "重複"),
    ("illegal moves", "反則手"),
    ("against the rules", "規則に反する局面"),
    ("unreadable", "読み取れない局面と指し手"),
    // why a move is illegal, and whose turn it is
    ("not a move in USI notation", "USI形式の指し手ではありません"),
    ("no piece on the origin", "移動元に駒がありません"),
    ("the piece belongs to the opponent", "相手の駒です"),
    ("the piece does not move there", "駒の動けない升です"),
    ("the target holds a piece of the same side", "移動先に味方の駒があります"),
    ("this kind of piece cannot promote", "成れない駒です"),
    ("promotion outside the promotion zone", "敵陣の外では成れません"),
    ("a pointless non-promotion", "意味のない不成です"),
    ("the piece could never move from there", "行き所のない駒になります"),
    ("no such piece in hand", "その駒は持駒にありません"),
    ("drop on an occupied square", "駒のある升には打てません"),
    ("a second unpromoted pawn on the file (nifu)", "二歩です"),
    ("mate by dropping a pawn (uchifuzume)", "打ち歩詰めです"),
    ("does not answer the check", "王手を放置しています"),
    ("leaves the king in check", "自玉に王手がかかります"),
    ("a move", "指し手"),
    ("Black", "先手"),
    ("White", "後手"),
    // what record formats cannot store
    ("1 move", "指し手"),
    ("1 variation", "変化手順"),
    ("1 time", "消費時間"),
    ("the fraction of 1 time", "消費時間の1秒未満の端数"),
    ("1 comment", "コメント"),
    ("1 program's line", "プログラムの出力行"),
    ("1 bookmark", "しおり"),
    ("1 heading", "ヘッダー"),
    ("1 heading's line ends", "ヘッダー内の改行"),
    ("the `}` of 1 comment", "コメント中の「}」"),
    ("1 heading without text", "内容のないヘッダー"),
    ("the ending", "終局の種類"),
    ("the ending of 1 variation", "変化手順の終局の種類"),
    ("the first move's number", "初手の手数"),
    // what book formats cannot store
    ("replies", "応手"),
    ("scores", "評価値"),
    ("depths", "深さ"),
    ("counts", "採用回数"),
    ("move numbers", "手数"),
    ("remarks", "コメント"),
    ("remarks on moves", "指し手へのコメント"),
    ("the comment on the whole book", "定跡全体へのコメント"),
    ("unknown move numbers (1 is written)", "不明な手数（1と書きます）"),
    ("unknown scores (0 is written)", "不明な評価値（0と書きます）"),
    ("scores beyond 32767 (cut off there)", "32767を超える評価値（32767とします）"),
    ("unknown depths (0 is written)", "不明な深さ（0と書きます）"),
    ("depths below 0 (0 is written)", "負の深さ（0と書きます）"),
    ("depths beyond 65535 (cut off there)", "65535を超える深さ（65535とします）"),
    ("unknown counts (1 is written)", "不明な採用回数（1と書きます）"),
    ("counts beyond 65535 (cut off there)", "65535を超える採用回数（65535とします）"),
    ("counts beyond 2147483647 (cut off there)", "2147483647を超える採用回数（2147483647とします）"),
    // what reading a .sbk drops
    ("analyses", "エンジンの解析結果"),
    ("marks on moves", "指し手の評価記号"),
    ("weights below 0 (read as 0)", "負の重み（0として読みました）"),
    ("author", "作者"),
    ("counts of games", "対局数"),
    ("positions that no root leads to", "どの開始局面からも到達できない局面"),
    // what a book drops
    ("positions without moves", "指し手のない局面"),
    ("duplicate positions (merged)", "重複する局面（まとめました）"),
    ("duplicate moves (the first entry was kept)", "重複する指し手（先の内容を残しました）"),
    ("remarks on missing positions or moves", "対象のないコメント"),
    ("unreadable positions or moves", "読み取れない局面または指し手"),
];

/// An English word in the language of the process; unchanged if it is not in the table.
pub(crate) fn word(english: &str) -> &str {
    let japanese = || WORDS.iter().find(|(word, _)| *word == english).map(|(_, japanese)| *japanese);
    match Lang::of_process() {
        Lang::Ja => japanese().unwrap_or(english),
        Lang::En => english,
    }
}

/// A number of things. `one` is the English text for one of them, `several` the plural.
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    match (Lang::of_process(), count) {
        (Lang::Ja, 1) => word(one).to_string(),
        (Lang::Ja, _) => number_of(count, one),
        (Lang::En, 1) => one.to_string(),
        (Lang::En, _) => number_of(count, several),
    }
}

/// The number of things of a kind.
pub(crate) fn number_of(count: usize, things: &str) -> String {
    match Lang::of_process() {
        Lang::Ja => format!("{}{count}件", word(things)),
        Lang::En => format!("{things}: {count}"),
    }
}

/// A number in an English text: `{}` is the number, `{:#}` the `s` of the noun after it, which 1 does not
/// have.
pub(crate) struct Number<T>(pub T);

impl<T: Display> Display for Number<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => f.write_str(if self.0.to_string() == "1" { "" } else { "s" }),
            false => self.0.fmt(f),
        }
    }
}

/// The items of a list, one after the other.
pub(crate) fn list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<T> = items.into_iter().collect();
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    items.join(Lang::of_process().pick("、", ", "))
}
