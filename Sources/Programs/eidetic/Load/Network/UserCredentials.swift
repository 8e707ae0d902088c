import EideticCLI
import EideticCore
import EideticFetch
import Glibc

/// The names and passwords of a command line: one pair for all servers, or those of a netrc file.
enum UserCredentials: Sendable {
    case none
    case pair(Credentials)
    case netrc(NetrcFile)

    /// The largest size of a file with passwords.
    private static let limit = ByteCount.mebibytes(1)

    /// Reads what the options name, and asks for a missing password on the terminal; blocks.
    init(_ arguments: Arguments) throws(EideticError) {
        if let file = arguments[NetworkOptions.userFile] {
            let text = String(decoding: try Self.read(file), as: UTF8.self)
            let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
            guard let pair = Self.pair(line) else {
                throw EideticError(.invalidArgument, message: "\(file): the first line is not NAME:PASSWORD")
            }
            self = .pair(pair)
        } else if let user = arguments[NetworkOptions.user] {
            let text = user.contains(byte: UInt8(ascii: ":")) ? user : "\(user):\(try Self.password(of: user))"
            self = Self.pair(text).map { .pair($0) } ?? .none
        } else if arguments.contains(NetworkOptions.netrc.definition) {
            let home = Terminal.environmentVariable("HOME") ?? ""
            let path = arguments[NetworkOptions.netrc] ?? Terminal.environmentVariable("NETRC") ?? "\(home)/.netrc"
            self = .netrc(NetrcFile(String(decoding: try Self.read(path), as: UTF8.self)))
        } else {
            self = .none
        }
    }

    func credentials(for url: String) -> Credentials? {
        switch self {
        case .none: nil
        case .pair(let pair): pair
        case .netrc(let file): file.credentials(forHost: (try? FetchRequest(url: url))?.origin.host ?? "")
        }
    }

    private static func pair(_ text: String) -> Credentials? {
        guard let (user, password) = text.divided(at: UInt8(ascii: ":")), !user.isEmpty else { return nil }
        return .basic(user: String(user), password: String(password))
    }

    private static func read(_ path: String) throws(EideticError) -> [UInt8] {
        try ConvertCommand.named(path) { () throws(EideticError) in try FileContents.read(path, limit: limit) }
    }

    /// Asks for a password on the terminal, which does not show it.
    private static func password(of user: String) throws(EideticError) -> String {
        guard let terminal = fopen("/dev/tty", "r+e") else {
            throw EideticError(
                .invalidArgument,
                message: "--user \(user): there is no password, and no terminal to ask for it"
            )
        }
        defer { fclose(terminal) }
        var settings = termios()
        let number = fileno(terminal)
        guard tcgetattr(number, &settings) == 0 else {
            throw EideticError(.invalidArgument, message: "--user \(user): the terminal cannot hide a password")
        }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        fputs("Password for \(TerminalText.sanitized(user)): ", terminal)
        fflush(terminal)
        tcsetattr(number, TCSAFLUSH, &silent)
        defer {
            tcsetattr(number, TCSAFLUSH, &settings)
            fputs("\n", terminal)
        }
        var buffer = [CChar](repeating: 0, count: 4_096)
        guard fgets(&buffer, Int32(buffer.count), terminal) != nil else {
            throw EideticError(.cancelled, message: "--user \(user): no password was given")
        }
        let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The names and passwords of a netrc file.
///
/// - SeeAlso: The GNU Inetutils manual, ".netrc file".
struct NetrcFile: Sendable {
    private var entries: [String: Credentials] = [:]
    private var standard: Credentials?

    /// Reads the text of a file; macros are left out.
    init(_ text: String) {
        var host: String?, user = "", password = ""
        func finish(_ file: inout NetrcFile) {
            guard let host, !user.isEmpty else { return }
            let pair = Credentials.basic(user: user, password: password)
            if host.isEmpty {
                file.standard = file.standard ?? pair
            } else {
                file.entries[host] = file.entries[host] ?? pair
            }
        }
        var isMacro = false
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            // A macro ends with an empty line.
            if isMacro, !line.isEmpty { continue }
            isMacro = false
            var words = line.unicodeScalars.split(whereSeparator: \.properties.isWhitespace).map { Substring($0) }[...]
            while let word = words.popFirst(), word.utf8.first != UInt8(ascii: "#") {
                switch word {
                case "machine", "default":
                    finish(&self)
                    host = word == "default" ? "" : words.popFirst()?.lowercased()
                    user = ""
                    password = ""
                case "login": user = words.popFirst().map(String.init) ?? ""
                case "password": password = words.popFirst().map(String.init) ?? ""
                case "account": _ = words.popFirst()
                case "macdef":
                    isMacro = true
                    words = []
                default: break
                }
            }
        }
        finish(&self)
    }

    /// Returns the credentials for a host, or else those for any host.
    func credentials(forHost host: String) -> Credentials? { entries[host] ?? standard }
}
