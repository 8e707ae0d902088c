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
    struct Paths: Sendable {
        /// `/etc`, but for tests.
        var systemDirectory = "/etc"
        /// The application's own settings.
        var settingsFiles: [String] = []

        fileprivate var targets: [FileChangeSource.Target] {
            [
                FileChangeSource.Target(path: "\(systemDirectory)/localtime", name: .timeZoneChanged, object: ""),
                FileChangeSource.Target(path: "\(systemDirectory)/timezone", name: .timeZoneChanged, object: ""),
                FileChangeSource.Target(path: "\(systemDirectory)/locale.conf", name: .localeChanged, object: ""),
                FileChangeSource.Target(path: "\(systemDirectory)/default/locale", name: .localeChanged, object: ""),
            ] + settingsFiles.map { FileChangeSource.Target(path: $0, name: .settingsChanged, object: $0) }
        }
    }

    private struct State {
        var paths: Paths?
        var requestedNames: Set<Notice.Name> = []
        var openSources: [Notice.Name: any NoticeSource] = [:]
    }

    private let state = Guarded(State())

    deinit { for source in state.withLock({ Array($0.openSources.values) }) { close(source.descriptor) } }

    /// From now on notices of this name are wanted; changes count from the moment at which this returns.
    func subscribe(to name: Notice.Name) {
        state.withLock { state in
            state.requestedNames.insert(name)
            Self.openMissingSources(in: &state)
        }
    }

    /// The application has been started.
    func start(paths places: Paths) {
        state.withLock { state in
            state.paths = places
            Self.openMissingSources(in: &state)
        }
    }

    private static func openMissingSources(in state: inout State) {
        guard let places = state.paths else { return }
        for name in state.requestedNames where state.openSources[name] == nil {
            state.openSources[name] = makeSource(for: name, paths: places)
        }
    }

    private static func makeSource(for name: Notice.Name, paths places: Paths) -> (any NoticeSource)? {
        switch name {
        case .clockChanged: ClockChangeSource()
        case .connectivityChanged: ConnectivitySource()
        case .timeZoneChanged, .localeChanged, .settingsChanged:
            FileChangeSource(targets: places.targets.filter { $0.name == name })
        // The application's own.
        default: nil
        }
    }

    var pollDescriptors: [pollfd] {
        state.withLock { state in
            state.openSources.values.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
    }

    /// What is new, each thing once.
    func read() -> [Notice] {
        state.withLock { state in
            var news: [Notice] = []
            for name in state.openSources.keys { news += state.openSources[name]?.read() ?? [] }
            return news
        }
    }
}
