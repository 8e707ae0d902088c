import EideticCore
import EideticLifecycle

/// Short continuations of a suspended application, in which it answers its display and callers on its message buses.
///
/// A window that answers nothing loses its connection when the display's buffer is full, and callers wait until their
/// patience ends. The application stays suspended meanwhile. A background task that it opens continues it.
package struct ShortThaws: ApplicationComponent {
    /// The servers by which others reach an application.
    package enum Source: String, Sendable, Hashable, CaseIterable {
        case display, bus

        /// Recognises a server by the address of its socket, which the application's variables may name; `nil` for any
        /// other.
        package init?(peer: String, sessionBus: String?, waylandDisplay: String?) {
            let name = peer.split(separator: "/").last.map(String.init) ?? peer
            // Displays of `ssh -X` are ports of this machine.
            let port = peer.hasPrefix("tcp:") ? Int(peer.dropFirst(4)) : nil
            if peer.contains(".X11-unix/X") || name.hasPrefix("wayland-") || port.map((6_000...6_063).contains) ?? false
                || waylandDisplay == peer || waylandDisplay == name
            {
                self = .display
            } else if name == "bus" || name.hasPrefix("dbus-") || peer.contains("/at-spi")
                || sessionBus?.contains("=\(peer)") ?? false
            {
                self = .bus
            } else {
                return nil
            }
        }
    }

    /// The longest time of one, and the least time from one to the next.
    package static let length = Duration.milliseconds(15)
    package static let pause = Duration.seconds(1)
    /// The time between two looks at a display that waits for the next one, and the number of unread bytes at which the
    /// application continues instead: the queue holds less than 300 messages, however short they are.
    private static let lookInterval = Duration.milliseconds(100)
    private static let fullCount = 4_096
    /// The time to the next attempt to suspend the application again, and the time and the number of all attempts.
    private static let retryPause = Duration.milliseconds(2)
    private static let attemptTime = Duration.milliseconds(200)
    private static let attemptLimit = 100
    /// The number of further ones after the last data of a bus, and after one at whose end the application was at work:
    /// another call may have been read while everything was stopped, which takes milliseconds with signals.
    private static let repetitionCount = 3
    /// The most further ones; callers on a bus wait for 25 s.
    private static let repetitionLimit = 25
    /// The least time from the first of the further ones after one for a display to the first of the next such ones.
    private static let chainInterval = Duration.seconds(10)

    /// The end of the one that is under way.
    private var end: Duration?
    private var attempts = 0
    private var firstAttempt: Duration?
    private var next: Duration = .zero
    private var nextLook: Duration?
    /// The sources for which the next one waits.
    private var waiting: Set<Source> = []
    /// The time of a further one for answers to a bus for which the last one was too short.
    private var repetition: Duration?
    /// The source for which the further ones follow, and the time of the first of the last ones after a display.
    private var cause = Source.bus
    private var chain: Duration?
    /// The number of further ones that follow, and of those that may follow: 0 unless a call may have been read.
    ///
    /// Only data of a bus restores the second number to the limit. It outlives a continuation in the background, so
    /// that one call does not cause them without end.
    private var repetitions = 0
    private var repetitionsLeft = 0
    private var isAtWork = false
    /// A Boolean value indicating whether the application continues in the background for others' sake: it may be
    /// suspended there before it has answered.
    private var isContinued = false
    private var counts: [Source: Int] = [:]

    package init() {}

    package var deadline: Duration? {
        end ?? (waiting.isEmpty ? repetition : min(next, nextLook ?? next))
    }

    /// Lets the application run for something that it has not read, now or a second after the last time.
    package mutating func request(from source: Source, in view: ApplicationView) -> [ApplicationEffect] {
        guard view.lifecycle.state == .suspended, end == nil else { return [] }
        waiting.insert(source)
        if view.now >= next { return begin(in: view) }
        if source == .display { nextLook = view.now + Self.lookInterval }
        return []
    }

    private mutating func begin(in view: ApplicationView) -> [ApplicationEffect] {
        for source in waiting.isEmpty ? [cause] : waiting { counts[source, default: 0] += 1 }
        let now = view.now
        // Further ones that have not begun are not used up.
        if repetition.map({ $0 <= now }) ?? true {
            repetitions = max(0, repetitions - 1)
            repetitionsLeft = max(0, repetitionsLeft - 1)
            repetition = min(repetitions, repetitionsLeft) > 0 ? now + Self.pause : nil
        }
        repeatForCalls(in: view)
        isAtWork = false
        waiting = []
        nextLook = nil
        attempts = 0
        firstAttempt = nil
        end = now + Self.length
        next = now + Self.pause
        return [.process(.thawBriefly)]
    }

    /// Lets further ones follow, as the application may read a call now: also after one for its display, if it is on a
    /// bus and no further one follows already.
    private mutating func repeatForCalls(in view: ApplicationView) {
        if waiting.contains(.bus) {
            cause = .bus
            repetition = view.now + Self.pause
            repetitionsLeft = Self.repetitionLimit
        } else if !waiting.isEmpty, repetition == nil, view.unreadCounts()[.bus] != nil {
            cause = .display
            let earliest = chain.map { $0 > view.now ? $0 : $0 + Self.chainInterval } ?? .zero
            chain = max(view.now + Self.pause, earliest)
            repetition = chain
            repetitionsLeft = max(repetitionsLeft, Self.repetitionCount)
        } else {
            return
        }
        repetitions = Self.repetitionCount
    }

    /// Records the outcome of an attempt to stop the application again; one that has opened a background task meanwhile
    /// continues, and one that was at work has another short time later.
    package mutating func end(
        _ outcome: FreezeAttempt.Outcome,
        isAtWork: Bool = false,
        in view: ApplicationView
    ) -> [ApplicationEffect] {
        self.isAtWork = self.isAtWork || isAtWork
        switch outcome {
        case .verified:
            end = nil
            if self.isAtWork, repetitionsLeft > 0 {
                repetitions = Self.repetitionCount
                repetition = repetition ?? next
            } else if repetition == nil {
                repetitionsLeft = 0
            }
            return [.watchCallers]
        case .openTasks(let count): return continueInBackground(openTasks: count, in: view)
        case .lock, .pending:
            if retry(at: view.now) { return [] }
            return continueInBackground(in: view)
        }
    }

    /// Continues the suspended application in the background, where it is suspended again as any other.
    package mutating func continueInBackground(openTasks: Int = 0, in view: ApplicationView) -> [ApplicationEffect] {
        end = nil
        // A call that waits for the next one, or comes meanwhile, is read in the background.
        repeatForCalls(in: view)
        isContinued = view.process != nil && repetitionsLeft > 0
        forgetRepetitions()
        guard let process = view.process else { return [] }
        let change = LifecycleEvent.openTaskCountChanged(openTasks, process: process.identity)
        return [.handle(.resumeInBackground)] + (openTasks > 0 ? [.handle(change)] : [])
    }

    private mutating func forgetRepetitions() {
        repetition = nil
        repetitions = 0
        if !isContinued { repetitionsLeft = 0 }
    }

    /// Delays the next attempt; returns `false` if that was attempted often enough.
    private mutating func retry(at now: Duration) -> Bool {
        attempts += 1
        let start = firstAttempt ?? now
        firstAttempt = start
        end = attempts < Self.attemptLimit && now - start < Self.attemptTime ? now + Self.retryPause : nil
        return end != nil
    }

    package mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        switch change {
        case .processChanged:
            self = ShortThaws()
            return []
        case .settled:
            if view.lifecycle.state != .suspended {
                end = nil
                waiting = []
                nextLook = nil
                if ![.background, .suspending].contains(view.lifecycle.state) { isContinued = false }
                forgetRepetitions()
            } else if isContinued {
                isContinued = false
                repetition = max(view.now + Self.pause, cause == .display ? chain ?? .zero : .zero)
                repetitions = Self.repetitionCount
            }
            return []
        case .deadline:
            if let end {
                guard end <= view.now else { return [] }
                guard view.lifecycle.state == .suspended, view.process != nil else {
                    self.end = nil
                    return []
                }
                // Until the attempt, so that the deadline is another one.
                self.end = view.now + Self.retryPause
                return [.endBriefThaw]
            }
            let isRepetition = repetition.map { $0 <= view.now } ?? false
            guard !waiting.isEmpty || isRepetition else { return [] }
            guard next <= view.now else { return look(in: view) }
            // It may have been read in the meantime.
            waiting.formIntersection(view.unreadSources())
            return waiting.isEmpty && !isRepetition ? [] : begin(in: view)
        }
    }

    /// Continues the application before its display, whose events it cannot read in time, closes the connection.
    private mutating func look(in view: ApplicationView) -> [ApplicationEffect] {
        guard let time = nextLook, time <= view.now else { return [] }
        nextLook = view.now + Self.lookInterval
        let count = view.unreadCounts()[.display] ?? 0
        guard count >= Self.fullCount, view.lifecycle.state == .suspended else { return [] }
        let line = "continued in the background, as \(count) bytes of its display wait"
        return [.log(line)] + continueInBackground(in: view)
    }

    /// The lines for `eidetic app why`.
    package func lines(unread: [Source: Int]) -> [String] {
        var lines: [String] = []
        let total = counts.values.reduce(0, +)
        if total > 0 {
            let list = Source.allCases.compactMap { source in counts[source].map { "\(source.rawValue) \($0)" } }
            let time = "\(Int(Self.length.inMilliseconds)) ms at a time, at most once a second"
            let rule = "continued for \(time), for what others had sent"
            lines.append("\(rule): \(list.joined(separator: ", "))")
        }
        for source in Source.allCases {
            guard let count = unread[source], count > 0 else { continue }
            lines.append("\(count) bytes of its \(source.rawValue) are not read")
        }
        return lines
    }
}
