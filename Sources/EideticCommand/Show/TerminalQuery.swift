import EideticCore
import Glibc

/// Asks the terminal what graphics it understands, and waits a short time for its answer.
enum TerminalQuery {
    /// A terminal far away may need some time; one that never answers must not be waited for long.
    private static let patience = Duration.milliseconds(400)

    /// A question about kitty's graphics, then one that every terminal answers ("primary device attributes").
    private static let question = Array("\u{1b}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\\u{1b}[c".utf8)

    /// The best that the terminal says it understands.
    static func ask() -> TerminalGraphics {
        guard let terminal = try? FileSystem().open("/dev/tty", O_RDWR | O_NOCTTY) else { return .blocks }
        return graphics(answer(terminal))
    }

    /// What an answer means: kitty says OK; sixel is feature 4 in `ESC [ ? 62 ; 4 ; 22 c`.
    private static func graphics(_ answer: [UInt8]) -> TerminalGraphics {
        let approval = Array("_Gi=31;OK".utf8)
        if answer.indices.contains(where: { answer[$0...].starts(with: approval) }) { return .kitty }
        return attributes(answer)?.dropFirst().contains("4") == true ? .sixel : .blocks
    }

    /// The numbers of `ESC [ ? … c`; `nil` while the answer is not complete.
    private static func attributes(_ answer: [UInt8]) -> [Substring]? {
        guard let start = answer.lastIndex(of: UInt8(ascii: "?")),
            let end = answer[start...].firstIndex(of: UInt8(ascii: "c"))
        else { return nil }
        return String(decoding: answer[(start + 1)..<end], as: UTF8.self).split(separator: ";")
    }

    /// Sends the question and reads what comes until the last answer ends.
    private static func answer(_ terminal: borrowing FileDescriptor) -> [UInt8] {
        let number = terminal.number
        var saved = termios()
        // A process in the background would be stopped for touching the terminal.
        guard tcgetpgrp(number) == getpgrp(), tcgetattr(number, &saved) == 0 else { return [] }
        var quiet = saved
        quiet.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(number, TCSANOW, &quiet) == 0 else { return [] }
        defer { tcsetattr(number, TCSANOW, &saved) }
        guard write(number, question, question.count) == question.count else { return [] }
        return read(number, until: SystemTime().uptime + patience)
    }

    private static func read(_ number: Int32, until deadline: Duration) -> [UInt8] {
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        while attributes(answer) == nil, answer.count < 4_096 {
            let rest = (deadline - SystemTime().uptime).inMilliseconds
            var event = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            guard rest > 0, poll(&event, 1, Int32(rest) + 1) > 0 else { break }
            let count = Glibc.read(number, &chunk, chunk.count)
            guard count > 0 else { break }
            answer += chunk[..<count]
        }
        return answer
    }
}
