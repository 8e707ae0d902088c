import EideticCore
import Glibc

/// A descriptor of the kernel's that becomes readable with news for the application.
protocol NoticeSource: Sendable {
    /// To be polled; negative where it was lost.
    var descriptor: Int32 { get }

    /// What is new; never blocks.
    mutating func read() -> [Notice]
}

/// The system's news: each source is opened when somebody first wants its notices, so that nobody else is woken by it.
///
/// Opened by any thread, read by the one that keeps the time.
final class NoticeSources: Sendable {
    /// Which files stand for what.
    struct Places: Sendable {
        /// `/etc`, but for tests.
        var system = "/etc"
        /// The application's own settings.
        var settings: [String] = []

        fileprivate var files: [FileWatch.Target] {
            [
                FileWatch.Target("\(system)/localtime", .timeZoneChanged, object: ""),
                FileWatch.Target("\(system)/timezone", .timeZoneChanged, object: ""),
                FileWatch.Target("\(system)/locale.conf", .localeChanged, object: ""),
                FileWatch.Target("\(system)/default/locale", .localeChanged, object: ""),
            ] + settings.map { FileWatch.Target($0, .settingsChanged, object: $0) }
        }
    }

    private struct State {
        var places: Places?
        var wanted: Set<Notice.Name> = []
        var opened: [Notice.Name: any NoticeSource] = [:]
    }

    private let state = Guarded(State())

    deinit { for source in state.withLock({ Array($0.opened.values) }) { close(source.descriptor) } }

    /// From now on notices of this name are wanted; changes count from the moment at which this returns.
    func want(_ name: Notice.Name) {
        state.withLock { state in
            state.wanted.insert(name)
            Self.open(&state)
        }
    }

    /// The application has been started.
    func start(_ places: Places) {
        state.withLock { state in
            state.places = places
            Self.open(&state)
        }
    }

    private static func open(_ state: inout State) {
        guard let places = state.places else { return }
        for name in state.wanted where state.opened[name] == nil { state.opened[name] = source(of: name, places) }
    }

    private static func source(of name: Notice.Name, _ places: Places) -> (any NoticeSource)? {
        switch name {
        case .clockChanged: ClockWatch()
        case .connectivityChanged: NetworkWatch()
        case .timeZoneChanged, .localeChanged, .settingsChanged:
            FileWatch(places.files.filter { $0.name == name })
        // The application's own.
        default: nil
        }
    }

    var polled: [pollfd] {
        state.withLock { state in
            state.opened.values.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
    }

    /// What is new, each thing once.
    func read() -> [Notice] {
        state.withLock { state in
            var news: [Notice] = []
            for name in state.opened.keys { news += state.opened[name]?.read() ?? [] }
            return news
        }
    }
}
