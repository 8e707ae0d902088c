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
}

extension ControlRequest: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, list),
        Case(2, launch, .identifier, .optional(.url), .value) {
            if case .launch(let name, let url, let inBackground) = $0 { (name, url, inBackground) } else { nil }
        },
        Case(3, foreground, .identifier) { if case .foreground(let name) = $0 { name } else { nil } },
        Case(4, background, .identifier) { if case .background(let name) = $0 { name } else { nil } },
        Case(5, quit, .identifier, .value) { if case .quit(let name, let force) = $0 { (name, force) } else { nil } },
        Case(6, explain, .identifier) { if case .explain(let name) = $0 { name } else { nil } },
        Case(7, log, .optional(.identifier), .value) {
            if case .log(let name, let count) = $0 { (name, count) } else { nil }
        },
        Case(8, install, .identifier, .value) {
            if case .install(let name, let program) = $0 { (name, program) } else { nil }
        },
        Case(9, wake, .identifier, .value) { if case .wake(let name, let kind) = $0 { (name, kind) } else { nil } },
        Case(10, awaitChange),
        Case(11, openURL, .identifier, .url, .value) {
            if case .openURL(let name, let url, let token) = $0 { (name, url, token) } else { nil }
        },
        Case(12, openURLByScheme, .url, .value) {
            if case .openURLByScheme(let url, let token) = $0 { (url, token) } else { nil }
        },
        Case(13, push, .identifier, .bytes(limit: WakeReason.payloadLimit)) {
            if case .push(let name, let payload) = $0 { (name, payload) } else { nil }
        },
        Case(14, simulate, .identifier, .value) {
            if case .simulate(let name, let simulation) = $0 { (name, simulation) } else { nil }
        },
        Case(15, followURL) { if case .followURL(let token) = $0 { token } else { nil } }
    )
}

extension ControlRequest.Simulation: WireRecord {
    package static let layout = Layout<Self>(
        Case(1, fetch),
        Case(2, task, .identifier) { if case .task(let identifier) = $0 { identifier } else { nil } },
        Case(3, expire),
        Case(4, memory) { if case .memory(let level) = $0 { level } else { nil } },
        Case(5, location) {
            if case .location(let latitude, let longitude, let accuracy) = $0 {
                (latitude, longitude, accuracy)
            } else {
                nil
            }
        }
    )
}
