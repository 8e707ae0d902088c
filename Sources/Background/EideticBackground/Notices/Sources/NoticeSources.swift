import EideticCore
import Glibc

/// The sources of the system's notices; each is opened for its first observer, so that unobserved changes wake nobody.
///
/// Any thread opens them; the lifecycle thread reads them.
final class NoticeSources: Sendable {
    /// The paths of the files that sources watch.
    struct Paths: Sendable {
        /// The directory of the system's settings: `/etc`, except in tests.
        var systemDirectory = "/etc"
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

    /// Opens the source of a notice; changes count from the return of this function.
    func subscribe(to name: Notice.Name) {
        state.withLock { state in
            state.requestedNames.insert(name)
            Self.openMissingSources(in: &state)
        }
    }

    /// Opens the sources that are already observed.
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
        // Posted by the application itself.
        default: nil
        }
    }

    var pollDescriptors: [pollfd] {
        state.withLock { state in
            state.openSources.values.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
    }

    /// Returns the new notices of all sources.
    func read() -> [Notice] {
        state.withLock { state in
            var notices: [Notice] = []
            for name in state.openSources.keys { notices += state.openSources[name]?.read() ?? [] }
            return notices
        }
    }
}
