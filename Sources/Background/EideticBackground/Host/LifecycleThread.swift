import EideticCore
import EideticLifecycle

/// The thread of the lifecycle: supervised as long as there is a supervisor, and stand-alone afterwards.
final class LifecycleThread: @unchecked Sendable {
    // Safe to send: whoever creates it uses it up to `start()`, which hands everything over to the thread; nobody else
    // uses it afterwards.
    private let performer: EffectPerformer
    private let signals: SignalHandlers
    private let socket: PacketSocket?

    init(performer: EffectPerformer) {
        self.performer = performer
        signals = SignalHandlers(inbox: performer.inbox)
        socket = SupervisorAddress.connect(performer.configuration)
        performer.inbox.isMultitaskingSupported = performer.configuration.isMultitaskingSupported
    }

    /// Starts the thread; signals are handled when this function returns.
    func start() {
        let configuration = performer.configuration
        if configuration.handlesSignals { signals.install(withJobControl: socket == nil) }
        performer.application.noticeSources.start(
            paths: .init(
                systemDirectory: configuration.systemSettingsDirectory,
                settingsFiles: configuration.settingsFiles
            )
        )
        Thread.start(name: "eidetic-life") { self.run() }
    }

    private func run() {
        var process: AdoptedProcess?
        if let socket {
            process = SupervisedHost(performer: performer, signals: signals, socket: socket).run()
            if performer.configuration.handlesSignals { signals.install(withJobControl: true) }
        }
        StandaloneHost(performer: performer, signals: signals).run(adopting: process)
    }
}

/// Calls the expiration handlers of libraries beside the lifecycle thread, which keeps the time.
///
/// A handler that blocks occupies one of 64 threads and no other handler; its task stays open, so the process is killed
/// at the limit, and the report names it.
enum HandlerThreads {
    private static let maximumThreadCount = 64

    /// Calls each handler once, several at a time, and returns at once.
    static func call(_ handlers: [@Sendable () -> Void]) {
        let queue = Guarded(handlers[...])
        for _ in 0..<min(handlers.count, maximumThreadCount) {
            Thread.start(name: "eidetic-expire") {
                while let handler = queue.withLock({ $0.popFirst() }) { handler() }
            }
        }
    }
}
