package import EideticCore
package import EideticLifecycle

/// A message of an application to its supervisor.
package enum ApplicationMessage: Sendable, Hashable {
    case hello(Hello)
    /// The callback with this sequence number was completed.
    case acknowledged(sequence: UInt64)
    /// The sorted names of the open tasks, as the request with this number asked; long lists are cut.
    case taskNames([String], request: UInt64)
    /// The last background task ended outside the foreground.
    case idle
    case wakeCompleted(UInt64, WakeResult)
    case urlAnswered(UInt64, isHandled: Bool)
    case presentation(PresentationMessage)
    case assertion(ContinuousAssertion, isHeld: Bool)
    /// The application asks for its termination, which follows as callbacks.
    case leaving
    /// A request that concerns wakes and notifications.
    case wakes(WakeCommand)

    private enum Kind: UInt8 {
        case hello = 1
        case acknowledged, taskNames, idle, wakeCompleted, urlAnswered, presentation, assertion, leaving, wakes
    }
}

extension ApplicationMessage: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        switch self {
        case .hello(let hello): writer.append(hello)
        case .acknowledged(let sequence): writer.append(sequence)
        case .taskNames(let names, let request):
            writer.append(request)
            writer.append(list: names) { $0.append($1) }
        case .idle, .leaving: break
        case .wakeCompleted(let id, let result):
            writer.append(id)
            writer.append(result.rawValue)
        case .urlAnswered(let id, let isHandled):
            writer.append(id)
            writer.append(isHandled)
        case .presentation(let presentation): writer.append(presentation)
        case .assertion(let assertion, let isHeld):
            writer.append(assertion.rawValue)
            writer.append(isHeld)
        case .wakes(let command): writer.append(command)
        }
    }

    private var kind: Kind {
        switch self {
        case .hello: .hello
        case .acknowledged: .acknowledged
        case .taskNames: .taskNames
        case .idle: .idle
        case .wakeCompleted: .wakeCompleted
        case .urlAnswered: .urlAnswered
        case .presentation: .presentation
        case .assertion: .assertion
        case .leaving: .leaving
        case .wakes: .wakes
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .hello: self = .hello(try Hello(from: &reader))
        case .acknowledged: self = .acknowledged(sequence: try reader.integer())
        case .taskNames:
            let request = try reader.integer(UInt64.self)
            let names = try reader.list(limit: SupervisionProtocol.listLimit) { (reader) throws(WireError) in
                try reader.text(limit: SupervisionProtocol.textLimit)
            }
            self = .taskNames(names, request: request)
        case .idle: self = .idle
        case .wakeCompleted: self = .wakeCompleted(try reader.integer(), try reader.enumeration(WakeResult.self))
        case .urlAnswered: self = .urlAnswered(try reader.integer(), isHandled: try reader.boolean())
        case .presentation: self = .presentation(try PresentationMessage(from: &reader))
        case .assertion:
            self = .assertion(try reader.enumeration(ContinuousAssertion.self), isHeld: try reader.boolean())
        case .leaving: self = .leaving
        case .wakes: self = .wakes(try WakeCommand(from: &reader))
        }
    }
}
