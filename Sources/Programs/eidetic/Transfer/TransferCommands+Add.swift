import EideticCLI
import EideticCore
import EideticHTTP
import EideticTransfer
import Glibc

extension TransferCommands {
    private static let output = TypedOption<String>(
        "output",
        placeholder: "PATH",
        help: "the file, or the existing directory, for the download (default: the working directory)"
    )

    private static let upload = TypedOption<String>(
        "upload",
        help: "upload this file to the URL, with PUT"
    )

    private static let method = TypedOption<String>(
        "method",
        placeholder: "METHOD",
        expecting: "a method such as POST",
        help: "the HTTP method (default: GET for downloads, PUT for uploads)",
        parse: { $0.utf8.allSatisfy { (0x41...0x5a).contains($0) } && !$0.isEmpty ? $0 : nil }
    )

    private static let header = TypedOption<HTTPHeaders.Field>(
        "header",
        letter: "H",
        placeholder: "NAME:VALUE",
        expecting: "a header field such as \"Accept: text/plain\"",
        help: "send this header field; can be repeated",
        parse: NetworkOptions.parseField
    )

    private static let connectionsPerHost = TypedOption<Int>(
        "connections-per-host",
        in: 1...6,
        help: "make at most N connections to one host for the session (default: 6)"
    )

    private static let beginAfter = TypedOption<Duration>(
        "begin-after",
        placeholder: "SECONDS",
        expecting: "a number of seconds from 0 to 31536000",
        help: "wait at least this long before the start (default: start at once)",
        parse: { text in Int(text).flatMap { (0...31_536_000).contains($0) ? .seconds($0) : nil } }
    )

    static let add = makeCommand(
        "add",
        summary: "add downloads or uploads, and print their numbers",
        operands: Operands(synopsis: "URL…", help: "URLs (http or https)"),
        options: [
            session.definition, output.definition, CommonOptions.overwrite, upload.definition, method.definition,
            header.definition,
            connectionsPerHost.definition, beginAfter.definition, CommonOptions.json,
        ],
        notes: ["The command returns when the transfers are stored; they survive a power failure from then on."]
    ) { service, arguments throws(EideticError) in
        let session = arguments[session] ?? "default"
        var configuration = TransferSessionConfiguration(identifier: session)
        if let limit = arguments[connectionsPerHost] { configuration.connectionsPerHost = limit }
        try await service.openSession(configuration)
        var status = ExitStatus.success
        var places: Set<String> = []
        for url in arguments.operands {
            do throws(EideticError) {
                let request = try makeRequest(for: url, arguments: arguments)
                if let place = request.destination, !places.insert(place).inserted {
                    throw EideticError(.fileFailure, message: "\(place) is the place of another download")
                }
                let identifier = try await service.add([request.value], to: session)
                writeAdded(identifier.first, request: request, asJSON: arguments.contains(CommonOptions.json))
            } catch {
                Diagnostics.report(error, of: url)
                status = .failure
            }
        }
        return status
    }

    /// A request, and the path to which `watch` moves the file.
    private struct NewTransfer {
        var value: TransferRequest
        var destination: String?
    }

    private static func makeRequest(for url: String, arguments: Arguments) throws(EideticError) -> NewTransfer {
        let parsed = try BackgroundURLSession.Request(url: url)
        var transfer: NewTransfer
        if let file = arguments[upload] {
            transfer = NewTransfer(value: TransferRequest(upload: try absolutePath(of: file), to: parsed.url))
        } else {
            let destination = try DownloadPlace(url: parsed.url, output: arguments[output]).path
            try FileContents.checkUnused(destination, overwrites: arguments.contains(CommonOptions.overwrite))
            transfer = NewTransfer(value: TransferRequest(download: parsed.url), destination: destination)
        }
        if let method = arguments[method] { transfer.value.method = method }
        transfer.value.earliestBegin = arguments[beginAfter].map { SystemTime().now + $0 }
        transfer.value.headers = parsed.headers.merging(HTTPHeaders(arguments.values(of: header)))
        let note = TaskNote(identifier: .random(in: 1...UInt64(Int64.max)), text: transfer.destination)
        guard (transfer.destination?.utf8.count ?? 0) <= TaskNote.maximumTextLength else {
            throw EideticError(.invalidArgument, message: "the path of the file is too long")
        }
        transfer.value.note = WireWriter.encode(note)
        return transfer
    }

    private static func writeAdded(_ identifier: TransferIdentifier?, request: NewTransfer, asJSON: Bool) {
        guard let identifier else { return }
        let value = request.value
        if asJSON {
            let object: JSON = .object([
                ("id", .integer(Int(clamping: identifier.rawValue))),
                ("kind", .string("\(value.kind)")),
                ("url", .url(value.url)),
                ("file", .optional(value.filePath ?? request.destination)),
            ])
            TextStream.output.writeLine(object.text)
        } else {
            let url = value.url.withoutPasswordsOfURL
            let arrow = value.filePath.map { "\($0) → \(url)" } ?? "\(url) → \(request.destination ?? "")"
            TextStream.output.writeLine(TerminalText.sanitized("\(identifier): \(arrow)"))
        }
    }

    private static func absolutePath(of path: String) throws(EideticError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw EideticError(SystemError(.open, errorNumber: errno, path: path))
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// The place of the file of a download.
struct DownloadPlace {
    let path: String

    /// Finds the place: a file, or one named after the URL in a directory.
    ///
    /// - Throws: `notFound` if the directory does not exist.
    init(url: String, output: String?) throws(EideticError) {
        let target = output ?? "."
        if let directory = Self.directory(at: target) {
            path = "\(directory)/\(Self.name(in: url))"
            return
        }
        let parent = target.parentPath.map { $0.isEmpty ? "/" : $0 } ?? "."
        guard let directory = Self.directory(at: parent) else {
            throw EideticError(.notFound, message: "\(parent) is not a directory")
        }
        path = "\(directory)/\(target.fileName)"
    }

    private static func directory(at path: String) -> String? {
        guard (try? FileSystem().status(of: path).kind) == .directory, let resolved = realpath(path, nil) else {
            return nil
        }
        defer { free(resolved) }
        let text = String(cString: resolved)
        return text == "/" ? "" : text
    }

    /// Returns the last component of a URL's path, without characters that a file name should not have.
    private static func name(in url: String) -> String {
        let path = url.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
        let name = String((path.last ?? "").prefix(200)).filter { $0 > " " && $0 != "/" }
        return name.isEmpty || name == "." || name == ".." ? "index" : name
    }
}
