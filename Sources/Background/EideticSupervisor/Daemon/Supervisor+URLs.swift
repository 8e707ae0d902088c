import EideticCore
import EideticSupervision

// Requests to open a URL, which come from programs of the user.
extension Supervisor {
    /// Asks the application that opens the URLs of a scheme, by the desktop entries.
    func openURL(_ url: String, token: UInt64, for connection: Connection) {
        guard let scheme = Self.scheme(of: url) else {
            return answer(Self.refusal(.invalidRequest, message: "\(url) does not begin with a scheme"), on: connection)
        }
        guard let manifest = context.manifests.manifest(forScheme: scheme).manifest else {
            let key = "MimeType=x-scheme-handler/\(scheme);"
            let message = "no application opens \(scheme): URLs: none has \(key) in its desktop entry"
            return answer(Self.refusal(.unknownApplication, message: message), on: connection)
        }
        openURL(url, in: manifest.identifier, token: token, for: connection)
    }

    /// Asks an application to open a URL, and answers when it has.
    func openURL(_ url: String, in identifier: String, token: UInt64, for connection: Connection) {
        guard let application = knownApplication(identifier) else {
            return answer(unknown(identifier), on: connection)
        }
        if let refusal = Self.refusalToStart(application) { return answer(refusal, on: connection) }
        let effects = application.components.urls.open(
            url,
            from: source(of: connection),
            token: token,
            at: Clock.now,
            answer: Self.answer(on: connection)
        )
        application.perform(effects)
    }

    /// Answers the sender of a URL that an earlier supervisor has accepted, when the application has opened it.
    func followURL(_ token: UInt64, for connection: Connection) {
        let answer = Self.answer(on: connection)
        for application in applications.values {
            guard let effects = application.components.urls.follow(token, at: Clock.now, answer: answer) else {
                continue
            }
            return application.perform(effects)
        }
        answer("the supervisor was replaced; whether the application has opened the URL is not known")
    }

    private static func answer(on connection: Connection) -> (_ failure: String?) -> Void {
        { [weak connection] failure in
            let contents = failure.map { refusal(.lifecycle, message: $0) } ?? [ControlAnswer(.done)]
            for content in contents { connection?.send(WireWriter.encode(content)) }
        }
    }

    private func answer(_ contents: [ControlAnswer], on connection: Connection) {
        for content in contents { connection.send(WireWriter.encode(content)) }
    }

    /// Returns the scheme of a URL in lower case; `nil` if it has none.
    ///
    /// - SeeAlso: RFC 3986, section 3.1.
    private static func scheme(of url: String) -> String? {
        let scheme = url.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard scheme.count < url.utf8.count, let first = scheme.first, isLetter(first) else { return nil }
        let isValid = scheme.allSatisfy { isLetter($0) || (48...57).contains($0) || [43, 45, 46].contains($0) }
        return isValid ? String(decoding: scheme, as: UTF8.self).lowercased() : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }

    /// The application to which the process of a connection belongs; `nil` if it is none of the supervised ones.
    private func source(of connection: Connection) -> String? {
        guard let peer = connection.socket.peer?.process else { return nil }
        return applications.values.first { $0.process?.freezer.processes.contains(peer) == true }?.identifier
    }
}
