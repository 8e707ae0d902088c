package import EideticCore
package import EideticLifecycle

/// A message of the supervisor to an application.
package enum SupervisorMessage: Sendable, Hashable {
    case welcome(Welcome)
    /// A callback to complete and acknowledge before the deadline.
    case lifecycle(LifecycleCallback, sequence: UInt64, deadline: Duration)
    /// Calls all expiration handlers; the process is killed if tasks are open at the deadline.
    case expire(deadline: Duration)
    case memoryWarning(level: UInt8)
    /// The application was suspended between these times of `CLOCK_MONOTONIC`, and continues.
    case suspended(from: Duration, to: Duration)
    /// Asks for the names of the open tasks.
    case taskNames(request: UInt64)
    /// Ends the process with success.
    case exit
    case refused(LifecycleEffect.Refusal)
    /// An answer or a message that concerns wakes and notifications.
    case wakes(WakeReply)

    private enum Kind: UInt8 {
        case welcome = 1
        case lifecycle, expire, memoryWarning, suspended, taskNames, exit, refused, wakes
    }
}

extension SupervisorMessage: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(kind.rawValue)
        switch self {
        case .welcome(let welcome): writer.append(welcome)
        case .lifecycle(let callback, let sequence, let deadline):
            writer.append(sequence)
            writer.append(deadline)
            writer.append(callback)
        case .expire(let deadline): writer.append(deadline)
        case .memoryWarning(let level): writer.append(level)
        case .suspended(let start, let end):
            writer.append(start)
            writer.append(end)
        case .taskNames(let request): writer.append(request)
        case .exit: break
        case .refused(let refusal): writer.append(refusal.rawValue)
        case .wakes(let reply): writer.append(reply)
        }
    }

    private var kind: Kind {
        switch self {
        case .welcome: .welcome
        case .lifecycle: .lifecycle
        case .expire: .expire
        case .memoryWarning: .memoryWarning
        case .suspended: .suspended
        case .taskNames: .taskNames
        case .exit: .exit
        case .refused: .refused
        case .wakes: .wakes
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.enumeration(Kind.self) {
        case .welcome: self = .welcome(try Welcome(from: &reader))
        case .lifecycle:
            let (sequence, deadline) = (try reader.integer(UInt64.self), try reader.duration())
            self = .lifecycle(try LifecycleCallback(from: &reader), sequence: sequence, deadline: deadline)
        case .expire: self = .expire(deadline: try reader.duration())
        case .memoryWarning: self = .memoryWarning(level: try reader.integer())
        case .suspended: self = .suspended(from: try reader.duration(), to: try reader.duration())
        case .taskNames: self = .taskNames(request: try reader.integer())
        case .exit: self = .exit
        case .refused: self = .refused(try reader.enumeration(LifecycleEffect.Refusal.self))
        case .wakes: self = .wakes(try WakeReply(from: &reader))
        }
    }
}
