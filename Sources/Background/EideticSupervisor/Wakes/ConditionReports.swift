import CSupervisor
import EideticCore

/// The kernel's reports of routes and of devices such as power supplies, while processing needs them.
final class ConditionReports {
    private final class Source {
        private let socket: FileDescriptor
        private let watch: Poller.Watch

        /// Watches a socket; `nil` if the kernel has none.
        init?(_ number: Int32, poller: Poller, didChange: @escaping () -> Void) {
            guard number >= 0 else { return nil }
            socket = FileDescriptor(adopting: number)
            watch = poller.watch(number) { if eidetic_drain_reports(number) != 0 { didChange() } }
        }
    }

    private var sources: [Source] = []
    /// Called after reports, whatever they say.
    var didChange: () -> Void = {}

    /// Begins to watch, with a poller.
    init(poller: Poller) {
        sources = [eidetic_open_route_reports(), eidetic_open_device_reports()].compactMap { number in
            Source(number, poller: poller) { [unowned self] in didChange() }
        }
    }
}
