import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

/// The commands `eidetic app …`, which control supervised applications.
package enum AppCommands {
    package static let command = makeRoot(named: "app")
    /// The commands as those of a program of their own, with the name under which users know it.
    package static let root = makeRoot(named: "eidetic app")

    private static func makeRoot(named name: String) -> Command {
        Command(
            name: name,
            summary: "control applications that eideticd supervises",
            notes: ["An application is named by its identifier, such as org.example.Mail."],
            subcommands: [list, launch, open, foreground, background, quit, push, simulate, why, log]
        )
    }

    private static let runtimeDirectory = TypedOption<String>(
        "runtime-dir",
        placeholder: "DIR",
        help: "the supervisor's directory (default: EIDETIC_RUNTIME_DIR, or eidetic in XDG_RUNTIME_DIR)",
        completion: .directories
    )

    private static let snapshots = Option(name: "snapshots", help: "list the files with window snapshots")
    private static let inBackground = Option(name: "background", help: "launch into the background")
    private static let force = Option(name: "force", help: "kill at once, and start again only when the user opens it")
    private static let url = TypedOption<String>(
        "url",
        placeholder: "URL",
        expecting: "a URL",
        help: "a URL to open",
        parse: { $0.isEmpty ? nil : $0 }
    )
    private static let count = TypedOption<UInt32>(
        "count",
        placeholder: "N",
        expecting: "a number from 1 to 200",
        help: "the number of records (default: 200)",
        parse: { text in UInt32(text).flatMap { (1...200).contains($0) ? $0 : nil } }
    )

    private static let identifierOperand = Operands(
        synopsis: "ID",
        help: "the application",
        count: 1...1
    )

    // MARK: Commands

    private static let list = makeCommand(
        "list",
        summary: "show state, freezer, process, open tasks and remaining background time",
        options: [CommonOptions.json, snapshots]
    ) { client, arguments throws(EideticError) in
        for case .applications(let applications) in try client.send(.list) {
            for application in applications {
                if arguments.contains(snapshots) {
                    if let line = application.snapshotLine { TextStream.output.writeLine(line) }
                    continue
                }
                let asJSON = arguments.contains(CommonOptions.json)
                TextStream.output.writeLine(asJSON ? application.json.text : application.line)
            }
        }
    }

    private static let launch = makeCommand(
        "launch",
        summary: "launch an application, or bring it to the foreground",
        operands: Operands(
            synopsis: "ID [PROGRAM [ARGUMENT…]]",
            help: "the application, and its program if the supervisor does not know it yet; write -- before ID if "
                + "arguments begin with a hyphen",
            completion: .files
        ),
        options: [inBackground, url.definition]
    ) { client, arguments throws(EideticError) in
        let identifier = arguments.operands[0]
        if let program = try program(arguments.operands.dropFirst()) {
            _ = try client.send(.install(identifier: identifier, program: program))
        }
        let (url, inBackground) = (arguments[url], arguments.contains(inBackground))
        let answer = try client.send(.launch(identifier: identifier, url: url, inBackground: inBackground))
        for case .lines(let notes) in answer { notes.forEach(Diagnostics.report) }
    }

    private static let open = makeCommand(
        "open",
        summary: "open a URL in an application (launched if necessary), and wait",
        operands: Operands(
            synopsis: "[ID] URL",
            help: "the application, and the URL; without an application, the one whose desktop entry names the scheme",
            count: 1...2
        )
    ) { client, arguments throws(EideticError) in
        let (url, words) = (arguments.operands[arguments.operands.count - 1], arguments.operands.dropLast())
        let token = UInt64.random(in: 1 ... .max)
        let request =
            words.first.map { ControlRequest.openURL(identifier: $0, url: url, token: token) }
            ?? .openURLByScheme(url, token: token)
        try client.send(request, orFollow: token)
    }

    private static let foreground = makeMove(
        "foreground",
        summary: "bring an application to the foreground; a suspended one continues"
    ) { .foreground(identifier: $0) }

    private static let background = makeMove(
        "background",
        summary: "move an application to the background, where it is suspended when its tasks have ended"
    ) { .background(identifier: $0) }

    private static func makeMove(
        _ name: String,
        summary: String,
        request: @escaping @Sendable (String) -> ControlRequest
    ) -> Command {
        makeCommand(name, summary: summary, operands: identifierOperand) { client, arguments throws(EideticError) in
            _ = try client.send(request(arguments.operands[0]))
        }
    }

    private static let quit = makeCommand(
        "quit",
        summary: "end an application",
        operands: identifierOperand,
        options: [force]
    ) { client, arguments throws(EideticError) in
        _ = try client.send(.quit(identifier: arguments.operands[0], force: arguments.contains(force)))
    }

    private static let why = makeCommand(
        "why",
        summary: "explain the state: each unmet condition, and the time of the next attempt",
        operands: identifierOperand,
        options: [CommonOptions.json]
    ) { client, arguments throws(EideticError) in
        write(try client.send(.explain(identifier: arguments.operands[0])), arguments: arguments)
    }

    private static let log = makeCommand(
        "log",
        summary: "show the latest launches, ends and refusals",
        operands: Operands(synopsis: "[ID]", help: "the application", count: 0...1),
        options: [CommonOptions.json, count.definition]
    ) { client, arguments throws(EideticError) in
        let request = ControlRequest.log(identifier: arguments.operands.first, count: arguments[count] ?? 200)
        write(try client.send(request), arguments: arguments)
    }

    private static let push = makeCommand(
        "push",
        summary: "deliver a silent message to an application, as a server would",
        operands: Operands(
            synopsis: "ID [JSON]",
            help: "the application, and a JSON object with \"content-available\": 1 (default: only that)",
            count: 1...2
        ),
        options: [CommonOptions.json]
    ) { client, arguments throws(EideticError) in
        let text = arguments.operands.count > 1 ? arguments.operands[1] : "{\"aps\":{\"content-available\":1}}"
        let bytes = Array(text.utf8)
        guard bytes.count <= WakeReason.payloadLimit else {
            throw EideticError(.limitExceeded, message: "the message has more than 4,096 bytes")
        }
        write(try client.send(.push(identifier: arguments.operands[0], payload: bytes)), arguments: arguments)
    }

    private static let simulate = makeCommand(
        "simulate",
        summary: "trigger an event now that otherwise happens by itself",
        operands: Operands(
            synopsis: "ID EVENT [VALUE…]",
            help: "the application, and the event: fetch; task IDENTIFIER; expire; memory 1|2|3; "
                + "location LATITUDE LONGITUDE [ACCURACY]",
            count: 2...5
        ),
        check: { arguments throws(EideticError) in _ = try simulation(of: arguments) }
    ) { client, arguments throws(EideticError) in
        _ = try client.send(.simulate(identifier: arguments.operands[0], try simulation(of: arguments)))
    }

    // MARK: Parts

    private static func simulation(of arguments: Arguments) throws(EideticError) -> ControlRequest.Simulation {
        try AppSimulation.parse(Array(arguments.operands.dropFirst()))
    }

    private static func write(_ contents: [ControlAnswer.Content], arguments: Arguments) {
        for case .lines(let lines) in contents {
            for line in lines {
                let json = JSON.object([("line", .redacted(line))])
                let asJSON = arguments.contains(CommonOptions.json)
                TextStream.output.writeLine(asJSON ? json.text : TerminalText.sanitized(line))
            }
        }
    }

    /// Creates a command that checks its operands, connects to the supervisor, and reports errors.
    private static func makeCommand(
        _ name: String,
        summary: String,
        operands: Operands = .none,
        options: [Option] = [],
        check: @escaping @Sendable (Arguments) throws(EideticError) -> Void = { _ in },
        run: @escaping @Sendable (SupervisorClient, Arguments) throws(EideticError) -> Void
    ) -> Command {
        Command(
            name: name,
            summary: summary,
            operands: operands,
            options: options + [runtimeDirectory.definition],
            run: { arguments in
                do throws(EideticError) { try check(arguments) } catch {
                    Diagnostics.report(error)
                    return .usage
                }
                do throws(EideticError) {
                    let directory = arguments[runtimeDirectory] ?? SupervisionProtocol.defaultRuntimeDirectory
                    try run(try SupervisorClient(runtimeDirectory: directory), arguments)
                    return .success
                } catch {
                    Diagnostics.report(error)
                    return .failure
                }
            }
        )
    }

    /// The program of the operands, with this process's environment and working directory; `nil` if none is given.
    private static func program(_ words: ArraySlice<String>) throws(EideticError) -> ProgramDescription? {
        guard let name = words.first else { return nil }
        guard let path = realpath(name, nil) else {
            throw EideticError(.notFound, message: "\(name): \(SystemError.message(for: errno))")
        }
        defer { free(path) }
        var program = ProgramDescription(executable: String(cString: path))
        program.arguments = Array(words.dropFirst())
        program.directory = workingDirectory
        var entry = environ
        while let variable = entry.pointee {
            program.environment.append(String(cString: variable))
            entry += 1
        }
        return program
    }

    private static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
