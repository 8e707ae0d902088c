import EideticCLI
import EideticCore
import EideticFetch
import EideticTransferEngine
import Glibc

/// `eidetic-transferd`: performs background transfers for the applications of one user.
@main
enum Main {
    private static let directory = TypedOption<String>(
        "directory",
        placeholder: "DIRECTORY",
        help: "directory of the transfers and their files (default: eidetic/transfers in XDG_STATE_HOME)",
        completion: .directories
    )
    private static let socket = descriptor("socket-descriptor", help: "a listening socket; can be repeated")
    private static let supervisor = descriptor("supervisor-descriptor", help: "a connection to the supervisor")
    private static let idleExit = TypedOption<Duration>(
        "idle-exit",
        placeholder: "SECONDS",
        expecting: "a number of seconds from 0 to 86400, or never",
        help: "exit after this idle time, or never (default: 30)",
        parse: { text in
            if text == "never" { return .seconds(Int64.max) }
            return Int64(text).flatMap { (0...86_400).contains($0) ? .seconds($0) : nil }
        }
    )
    private static let certificates = TypedOption<String>(
        "certificates",
        help: "trust the certificates in this file (PEM) instead of the system's"
    )
    private static let proxy = TypedOption<Downloader.Proxy>(
        "proxy",
        placeholder: "URL",
        expecting: "a URL such as http://host:8080, or none",
        help: "the proxy for all transfers, or none (default: the environment's proxy)",
        parse: { $0 == "none" ? Downloader.Proxy.none : $0.contains("://") ? .url($0) : nil }
    )
    private static let pinned = TypedOption<(host: String, key: String)>(
        "pin",
        placeholder: "HOST=HASH",
        expecting: "a host and the hash of its public key, such as example.org=sha256//…",
        help: "accept only this public key of a host, as sha256//… in base64; can be repeated",
        parse: { text in
            guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return nil }
            let key = String(text[text.index(after: sign)...])
            return key.hasPrefix("sha256//") ? (String(text[..<sign]), key) : nil
        }
    )
    private static let replace = Option(name: "replace", help: "first end another process that uses the directory")
    private static let noSandbox = Option(name: "no-sandbox", help: "do not restrict the process")

    private static let command = Command(
        name: "eidetic-transferd",
        summary: "perform background transfers for the applications of one user",
        options: [
            directory.definition, socket.definition, supervisor.definition, idleExit.definition,
            certificates.definition, proxy.definition, pinned.definition, replace, noSandbox,
        ],
        notes: [
            "It receives its sockets from systemd (LISTEN_FDS), from a client (a listening socket), or from the supervisor.",
            "Exit status: 2 for an invalid command line, 69 if it cannot work, 75 if another process has the directory.",
        ],
        manualSection: 8,
        run: { arguments in
            do throws(EideticError) {
                try TransferDaemon.run(options(from: arguments))
                return .success
            } catch {
                TextStream.errors.write(Array("eidetic-transferd: \(error.message)\n".utf8))
                switch error.code {
                case .invalidArgument: return .usage
                case .refused: exit(EX_TEMPFAIL)
                default: exit(EX_UNAVAILABLE)
                }
            }
        }
    )

    static func main() {
        FreedMemory.returnToSystem()
        exit(CommandRunner.run(Array(CommandLine.arguments.dropFirst()), root: command).rawValue)
    }

    private static func options(from arguments: Arguments) throws(EideticError) -> ServiceOptions {
        var options = ServiceOptions()
        if let directory = arguments[directory] { options.directory = directory }
        options.listeners = arguments.values(of: socket)
        options.supervisor = arguments[supervisor]
        if let limit = arguments[idleExit] { options.idleLimit = limit == .seconds(Int64.max) ? nil : limit }
        options.connections.certificateAuthorityFile = arguments[certificates]
        if let proxy = arguments[proxy] { options.connections.proxy = proxy }
        for (host, keys) in arguments.values(of: pinned) { options.connections.pin([host: [keys]]) }
        options.isSandboxed = !arguments.contains(noSandbox)
        options.replacesOther = arguments.contains(replace)
        options.addPassedListeners()
        try options.check()
        return options
    }

    private static func descriptor(_ name: String, help: String) -> TypedOption<Int32> {
        TypedOption(name, placeholder: "NUMBER", expecting: "the number of an open descriptor", help: help) { text in
            Int32(text).flatMap { $0 > 2 && fcntl($0, F_GETFD) >= 0 ? $0 : nil }
        }
    }
}
