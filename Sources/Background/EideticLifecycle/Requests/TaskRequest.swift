/// A request for time in the background: a refresh of content for 30 s, or processing for minutes.
package struct TaskRequest: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable { case refresh = 1, processing }

    /// The conditions without which processing does not start, and is stopped.
    package struct Constraints: Sendable, Hashable {
        package var needsNetwork = false
        package var needsExternalPower = false
        package var needsIdle = false

        package init(needsNetwork: Bool = false, needsExternalPower: Bool = false, needsIdle: Bool = false) {
            self.needsNetwork = needsNetwork
            self.needsExternalPower = needsExternalPower
            self.needsIdle = needsIdle
        }
    }

    package var kind: Kind
    /// The identifier in the application; a later request with the same one replaces this one.
    package var identifier: String
    /// The time before which it does not start, by the steady clock; `nil` for none.
    package var earliestBegin: Int64?
    package var constraints = Constraints()

    package init(
        _ kind: Kind,
        identifier: String,
        earliestBegin: Int64? = nil,
        constraints: Constraints = Constraints()
    ) {
        self.kind = kind
        self.identifier = identifier
        self.earliestBegin = earliestBegin
        self.constraints = constraints
    }

    /// The limits of pending requests of one application.
    package static let refreshLimit = 1
    package static let processingLimit = 10
    package static let identifierLimit = 255
}

/// The reason for which a request is not accepted.
package enum TaskRequestError: UInt8, Error, Sendable, Hashable, CaseIterable {
    /// One refresh or ten processing requests are pending.
    case tooManyPendingTaskRequests = 1
    /// The application does not declare the background mode.
    case notPermitted
    /// The identifier is empty or too long.
    case invalidIdentifier
    /// No supervisor runs that could wake the application.
    case unavailable
    /// The application is not in the foreground, where the user starts work.
    case notInForeground
}

/// The state of the machine that constraints refer to.
package struct TaskConditions: Sendable, Hashable {
    package var hasNetwork = true
    package var isOnExternalPower = true
    package var isIdle = true

    package init() {}

    /// The conditions of a request that are not met, in words.
    package func obstacles(to constraints: TaskRequest.Constraints) -> [String] {
        var obstacles: [String] = []
        if constraints.needsNetwork, !hasNetwork { obstacles.append("there is no network") }
        if constraints.needsExternalPower, !isOnExternalPower { obstacles.append("there is no external power") }
        if constraints.needsIdle, !isIdle { obstacles.append("the machine is in use") }
        return obstacles
    }
}

/// The least time between two background fetches that an application asks for.
package enum FetchInterval: Sendable, Hashable {
    /// No fetches; the initial value.
    case never
    /// As often as the schedule permits.
    case minimum
    case seconds(Int64)

    /// The shortest interval that is granted, in seconds.
    package static let least: Int64 = .quarterHour

    /// The granted interval in seconds; `nil` for ``never``.
    package var granted: Int64? {
        switch self {
        case .never: nil
        case .minimum: Self.least
        case .seconds(let seconds): Swift.min(Swift.max(Self.least, seconds), 365 * .day)
        }
    }
}
