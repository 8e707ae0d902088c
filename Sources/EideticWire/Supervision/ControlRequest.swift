package import LifecycleCore

/// A request of `eidetic app` to the supervisor.
package enum ControlRequest: Sendable, Hashable {
    case list
    /// Launches the application, or brings it to the foreground; with a URL, to open it.
    case launch(identifier: String, url: String?, inBackground: Bool)
    case foreground(identifier: String)
    case background(identifier: String)
    /// Terminates the application; with `force`, kills it at once, and nothing but the user starts it again.
    case quit(identifier: String, force: Bool)
    /// Asks for the conditions that are not met, and the next chance.
    case explain(identifier: String)
    /// Asks for the latest records, of one application or of all.
    case log(identifier: String?, count: UInt32)
    /// Records the program of an application, which the supervisor starts for a launch or a wake.
    case install(identifier: String, program: ProgramDescription)
    /// Wakes or launches an application in the background.
    case wake(identifier: String, kind: WakeReason.Kind)
    /// Asks for an answer when something about an application has changed; other requests may follow before it comes.
    ///
    /// An application changes its number of open tasks without the supervisor.
    case awaitChange
    /// Asks the application to open a URL; the answer comes when it has told whether it does.
    case openURL(identifier: String, url: String)
    /// Asks the application that opens the URLs of its scheme to open a URL; the answer is that of ``openURL``.
    case openURLByScheme(String)

    private enum Kind: UInt8 {
        case list = 1
        case launch, foreground, background, quit, explain, log, install, wake, awaitChange, openURL, openURLByScheme
    }
}

extension ControlRequest: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        switch self {
        case .list: writer.append(Kind.list.rawValue)
        case .launch(let identifier, let url, let inBackground):
            writer.append(Kind.launch.rawValue)
            writer.append(identifier)
            writer.append(optional: url) { $0.append($1) }
            writer.append(inBackground)
        case .foreground(let identifier): Self.write(.foreground, of: identifier, to: &writer)
        case .background(let identifier): Self.write(.background, of: identifier, to: &writer)
        case .quit(let identifier, let force):
            Self.write(.quit, of: identifier, to: &writer)
            writer.append(force)
        case .explain(let identifier): Self.write(.explain, of: identifier, to: &writer)
        case .log(let identifier, let count):
            writer.append(Kind.log.rawValue)
            writer.append(optional: identifier) { $0.append($1) }
            writer.append(count)
        case .install(let identifier, let program):
            Self.write(.install, of: identifier, to: &writer)
            writer.append(program)
        case .wake(let identifier, let kind):
            Self.write(.wake, of: identifier, to: &writer)
            writer.append(kind.rawValue)
        case .awaitChange: writer.append(Kind.awaitChange.rawValue)
        case .openURL(let identifier, let url):
            Self.write(.openURL, of: identifier, to: &writer)
            writer.append(url)
        case .openURLByScheme(let url):
            writer.append(Kind.openURLByScheme.rawValue)
            writer.append(url)
        }
    }

    private static func write(_ kind: Kind, of identifier: String, to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        writer.append(identifier)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .list: self = .list
        case .launch:
            let identifier = try reader.identifier()
            let url = try reader.optional { (reader) throws(WireError) in
                try reader.text(limit: SupervisionProtocol.urlLimit)
            }
            self = .launch(identifier: identifier, url: url, inBackground: try reader.boolean())
        case .foreground: self = .foreground(identifier: try reader.identifier())
        case .background: self = .background(identifier: try reader.identifier())
        case .quit: self = .quit(identifier: try reader.identifier(), force: try reader.boolean())
        case .explain: self = .explain(identifier: try reader.identifier())
        case .log:
            let identifier = try reader.optional { (reader) throws(WireError) in try reader.identifier() }
            self = .log(identifier: identifier, count: try reader.integer())
        case .install:
            self = .install(identifier: try reader.identifier(), program: try ProgramDescription(from: &reader))
        case .wake:
            self = .wake(
                identifier: try reader.identifier(),
                kind: try reader.enumeration(WakeReason.Kind.self)
            )
        case .awaitChange: self = .awaitChange
        case .openURL:
            let identifier = try reader.identifier()
            self = .openURL(identifier: identifier, url: try reader.text(limit: SupervisionProtocol.urlLimit))
        case .openURLByScheme:
            self = .openURLByScheme(try reader.text(limit: SupervisionProtocol.urlLimit))
        }
    }
}

extension WireReader {
    /// Reads the identifier of an application.
    mutating func identifier() throws(WireError) -> String {
        try text(limit: SupervisionProtocol.identifierLimit)
    }
}
