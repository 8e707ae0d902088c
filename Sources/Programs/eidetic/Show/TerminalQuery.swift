import EideticCore
import Glibc

/// The query for the graphics that the terminal supports.
enum TerminalQuery {
    /// The maximum time for a response, which allows for remote terminals.
    private static let timeLimit = Duration.milliseconds(400)

    /// A query for kitty's graphics, then "primary device attributes", to which every terminal responds.
    private static let query = Array("\u{1b}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\\u{1b}[c".utf8)

    /// Queries the terminal and returns the best way that it supports.
    static func detectGraphics() -> TerminalGraphics {
        guard let terminal = try? FileSystem().open("/dev/tty", flags: O_RDWR | O_NOCTTY) else { return .blocks }
        return graphics(from: response(from: terminal))
    }

    /// Returns the best way according to a response: OK for kitty; sixel is feature 4 in `ESC [ ? 62 ; 4 ; 22 c`.
    private static func graphics(from answer: [UInt8]) -> TerminalGraphics {
        let acknowledgement = Array("_Gi=31;OK".utf8)
        if answer.indices.contains(where: { answer[$0...].starts(with: acknowledgement) }) { return .kitty }
        return deviceAttributes(in: answer)?.dropFirst().contains("4") == true ? .sixel : .blocks
    }

    /// Returns the numbers of `ESC [ ? … c`; `nil` if the response is not complete.
    private static func deviceAttributes(in answer: [UInt8]) -> [Substring]? {
        guard let start = answer.lastIndex(of: UInt8(ascii: "?")),
            let end = answer[start...].firstIndex(of: UInt8(ascii: "c"))
        else { return nil }
        return String(decoding: answer[(start + 1)..<end], as: UTF8.self).split(separator: ";")
    }

    /// Sends the query and reads until the last response is complete.
    private static func response(from terminal: borrowing FileDescriptor) -> [UInt8] {
        let number = terminal.rawValue
        var saved = termios()
        // Changing the terminal would stop a background process.
        guard tcgetpgrp(number) == getpgrp(), tcgetattr(number, &saved) == 0 else { return [] }
        var quiet = saved
        quiet.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(number, TCSANOW, &quiet) == 0 else { return [] }
        defer { tcsetattr(number, TCSANOW, &saved) }
        guard write(number, query, query.count) == query.count else { return [] }
        return read(from: number, until: SystemTime().uptime + timeLimit)
    }

    private static func read(from number: Int32, until deadline: Duration) -> [UInt8] {
        var response: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        while deviceAttributes(in: response) == nil, response.count < 4_096 {
            let remaining = (deadline - SystemTime().uptime).inMilliseconds
            var event = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            guard remaining > 0, poll(&event, 1, Int32(remaining) + 1) > 0 else { break }
            let count = Glibc.read(number, &chunk, chunk.count)
            guard count > 0 else { break }
            response += chunk[..<count]
        }
        return response
    }
}
