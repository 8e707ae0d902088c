package import EideticCore
package import EideticLifecycle

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
    ///
    /// With the token, a random number other than 0, its sender can ask the next supervisor if this one ends.
    case openURL(identifier: String, url: String, token: UInt64 = 0)
    /// Asks the application that opens the URLs of its scheme to open a URL; the answer is that of ``openURL``.
    case openURLByScheme(String, token: UInt64 = 0)
    /// Delivers a silent message of a server, as JSON.
    case push(identifier: String, payload: [UInt8])
    /// Makes happen what otherwise comes at its own time.
    case simulate(identifier: String, Simulation)
    /// Asks for the answer to a URL that an earlier supervisor has accepted.
    case followURL(token: UInt64)

    /// An event to simulate.
    package enum Simulation: Sendable, Hashable {
        /// A background fetch now, without regard to time and quota.
        case fetch
        /// The pending request with this identifier, now, without regard to time, quota and conditions.
        case task(String)
        /// The end of background time.
        case expire
        /// A memory warning of a level: 1 to 3.
        case memory(UInt8)
        /// A location: latitude and longitude in degrees, accuracy in metres.
        case location(latitude: Double, longitude: Double, accuracy: Double)
    }

    private enum Kind: UInt8 {
        case list = 1
        case launch, foreground, background, quit, explain, log, install, wake, awaitChange, openURL, openURLByScheme
        case push, simulate, followURL
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
        case .openURL(let identifier, let url, let token):
            Self.write(.openURL, of: identifier, to: &writer)
            writer.append(url)
            writer.append(token)
        case .openURLByScheme(let url, let token):
            writer.append(Kind.openURLByScheme.rawValue)
            writer.append(url)
            writer.append(token)
        case .followURL(let token):
            writer.append(Kind.followURL.rawValue)
            writer.append(token)
        case .push(let identifier, let payload):
            Self.write(.push, of: identifier, to: &writer)
            writer.append(payload)
        case .simulate(let identifier, let simulation):
            Self.write(.simulate, of: identifier, to: &writer)
            writer.append(simulation)
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
            let url = try reader.text(limit: SupervisionProtocol.urlLimit)
            self = .openURL(identifier: identifier, url: url, token: try reader.integer())
        case .openURLByScheme:
            let url = try reader.text(limit: SupervisionProtocol.urlLimit)
            self = .openURLByScheme(url, token: try reader.integer())
        case .followURL: self = .followURL(token: try reader.integer())
        case .push:
            let identifier = try reader.identifier()
            self = .push(identifier: identifier, payload: try reader.blob(limit: WakeReason.payloadLimit))
        case .simulate:
            let identifier = try reader.identifier()
            self = .simulate(identifier: identifier, try Simulation(from: &reader))
        }
    }
}

extension WireReader {
    /// Reads the identifier of an application.
    mutating func identifier() throws(WireError) -> String {
        try text(limit: SupervisionProtocol.identifierLimit)
    }
}

extension ControlRequest.Simulation: WireEncodable, WireDecodable {
    private enum Kind: UInt8 {
        case fetch = 1
        case task, expire, memory, location
    }

    package func write(to writer: inout WireWriter) {
        switch self {
        case .fetch: writer.append(Kind.fetch.rawValue)
        case .task(let identifier):
            writer.append(Kind.task.rawValue)
            writer.append(identifier)
        case .expire: writer.append(Kind.expire.rawValue)
        case .memory(let level):
            writer.append(Kind.memory.rawValue)
            writer.append(level)
        case .location(let latitude, let longitude, let accuracy):
            writer.append(Kind.location.rawValue)
            for number in [latitude, longitude, accuracy] { writer.append(number.bitPattern) }
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .fetch: self = .fetch
        case .task: self = .task(try reader.identifier())
        case .expire: self = .expire
        case .memory: self = .memory(try reader.integer())
        case .location:
            let latitude = Double(bitPattern: try reader.integer())
            let longitude = Double(bitPattern: try reader.integer())
            let accuracy = Double(bitPattern: try reader.integer())
            self = .location(latitude: latitude, longitude: longitude, accuracy: accuracy)
        }
    }
}
