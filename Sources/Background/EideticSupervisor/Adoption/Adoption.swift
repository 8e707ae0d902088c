package import EideticLifecycle

/// The process of an earlier supervisor, until it connects, and the requests that wait for that.
package struct Adoption: ApplicationComponent {
    /// The treatment of a request.
    package enum Admission: Hashable { case handled, waits, refused(LifecycleEffect.Refusal), tooMany }

    private static let requestLimit = 64

    /// The time in which the process is expected to connect.
    private let limit: Duration
    /// The record of the process, until it connects.
    package var record: ApplicationRecord.ProcessRecord?
    /// The end of the time in which it is expected to connect.
    package private(set) var deadline: Duration?
    /// The requests that wait for it.
    package private(set) var requests: [LifecycleEvent] = []

    package init(limit: Duration) { self.limit = limit }

    /// Expects the process of a record to connect.
    package mutating func expect(_ record: ApplicationRecord.ProcessRecord, at now: Duration) {
        self.record = record
        deadline = now + limit
    }

    /// Ends the time, as the process has connected.
    package mutating func endTime() { deadline = nil }

    /// Expects nothing any more.
    package mutating func end() {
        record = nil
        deadline = nil
    }

    /// Returns what becomes of a request, which is kept if it waits.
    package mutating func admit(_ event: LifecycleEvent) -> Admission {
        guard record != nil else { return .handled }
        guard deadline != nil else { return .refused(.notConnected) }
        guard requests.count < Self.requestLimit else { return .tooMany }
        requests.append(event)
        return .waits
    }

    /// Keeps requests, however many there are.
    package mutating func keep(_ events: [LifecycleEvent]) { requests += events }

    /// Replaces the requests with those of a record.
    package mutating func restore(_ events: [LifecycleEvent]) { requests = events }

    /// Takes the request that has waited for longest; each stays in the record until it is handled, for a supervisor
    /// that follows if this one is killed meanwhile.
    package mutating func next() -> LifecycleEvent? { requests.isEmpty ? nil : requests.removeFirst() }

    /// Forgets what was requested, as the user ends the application.
    package mutating func drop() {
        requests = []
        record?.intention = ApplicationRecord.Intention()
    }

    /// Leaves a process alone that has not connected in time: it continues without a supervisor, and may still connect.
    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard change == .deadline else { return [] }
        deadline = nil
        guard let process = view.process else { return [] }
        return [
            .log("process \(process.number) has not connected, and continues without supervision"),
            .refuseWaitingRequests(.notConnected),
        ]
    }
}
