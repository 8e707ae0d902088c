import CMicroHTTP
import Dispatch
import Eidetic
import EideticCodecs
import Glibc

/// The words of the command line.
struct Options {
    private(set) var port: UInt16 = 0
    private(set) var shared: String?
    private(set) var allowsPrivate = false

    init(_ words: ArraySlice<String>) throws(EideticError) {
        guard let first = words.first, let port = UInt16(first) else {
            throw EideticError(.invalidArgument, message: "give a port, 0 for a free one")
        }
        self.port = port
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "--allow-private": allowsPrivate = true
            case "--shared" where !rest.isEmpty: shared = rest.removeFirst()
            default: throw EideticError(.invalidArgument, message: "\(word) is not an option, or has no value")
            }
        }
        #if !Redis
        if shared != nil {
            throw EideticError(.invalidArgument, message: "--shared needs a build with the trait Redis")
        }
        #endif
    }
}

/// A client with its request: parameters, waiting and responses.
struct Client {
    let connection: OpaquePointer

    static func announce(port: UInt16) {
        print("listening on port \(port)")
        fflush(nil)
    }

    static func end(because error: EideticError) -> Never {
        let text = "ImageService: \(error.message)\nusage: ImageService PORT [--shared URL] [--allow-private]\n"
        write(STDERR_FILENO, text, text.utf8.count)
        exit(1)
    }

    // MARK: Parameters

    func text(_ name: String) throws(EideticError) -> String {
        guard let value = http_parameter(connection, name) else {
            throw EideticError(.invalidArgument, message: "the parameter \(name) is missing")
        }
        return String(cString: value)
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(EideticError) -> Int {
        guard let number = Int(try text(name)), range.contains(number) else {
            let limits = "\(range.lowerBound) to \(range.upperBound)"
            throw EideticError(.invalidArgument, message: "the parameter \(name) is not a number from \(limits)")
        }
        return number
    }

    /// Returns the format with the name of the parameter, which is JPEG by default.
    func format(_ name: String, of formats: [ImageFormat]) throws(EideticError) -> ImageFormat {
        guard let value = http_parameter(connection, name) else { return .jpeg }
        let name = String(cString: value)
        guard let format = formats.first(where: { $0.description == name || $0.fileExtension == name }) else {
            let names = formats.map(\.description).joined(separator: ", ")
            throw EideticError(.invalidArgument, message: "the format is not one of \(names)")
        }
        return format
    }

    // MARK: Waiting

    /// Blocks this thread until a load has ended; cancels it and returns `nil` if the client has left before.
    func wait(for task: ImageTask) throws(EideticError) -> ImageResponse? {
        let ended = eventfd(0, Int32(EFD_CLOEXEC))
        guard ended >= 0 else { throw EideticError(.outOfMemory, message: "there are no more descriptors") }
        defer { close(ended) }
        Task {
            _ = try? await task.response
            eventfd_write(ended, 1)
        }
        if http_wait(connection, ended) { return try task.result?.get() }
        task.cancel()
        // The descriptor is open until the task has written to it.
        var count: eventfd_t = 0
        while eventfd_read(ended, &count) != 0 {}
        return nil
    }

    // MARK: Responses

    private static let encoders = DispatchSemaphore(value: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    /// Encodes an image, on at most as many threads as there are processors.
    static func encode(_ image: Image, as format: ImageFormat) throws(EideticError) -> [UInt8] {
        encoders.wait()
        defer { encoders.signal() }
        return try image.encoded(as: format)
    }

    func send(_ body: [UInt8], status: UInt32 = 200, type: String = "text/plain; charset=utf-8", tag: String? = nil) {
        type.withCString { type in
            body.withUnsafeBytes { body in
                let send = { (tag: UnsafePointer<CChar>?) in
                    http_respond(
                        connection,
                        http_response(
                            status: status,
                            content_type: type,
                            entity_tag: tag,
                            body: body.baseAddress,
                            length: body.count
                        )
                    )
                }
                if let tag { tag.withCString(send) } else { send(nil) }
            }
        }
    }

    /// Sends an image, or status 304 if the client has it already.
    func sendIfChanged(_ body: [UInt8], type: String) {
        let hash = body.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }  // FNV-1a
        let tag = "\"\(String(hash, radix: 16))\""
        let known = http_field(connection, "If-None-Match").map { String(cString: $0) } ?? ""
        let isKnown = known == "*" || known.contains(tag)
        send(isKnown ? [] : body, status: isKnown ? 304 : 200, type: type, tag: tag)
    }
}

extension EideticError {
    /// The status with which the service answers.
    var responseStatus: UInt32 {
        switch (kind, httpStatus) {
        case (.request, _): 400
        case (.http, 404), (.http, 410): 404
        case (.image, _): 422
        case (.network, _): code == .timedOut ? 504 : 502
        case (.http, _): 502
        default: 500
        }
    }
}
