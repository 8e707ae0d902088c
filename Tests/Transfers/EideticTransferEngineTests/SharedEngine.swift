import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine

/// An engine that serves several applications, on a thread of its own, with a clock that the test advances.
final class SharedEngine: Sendable {
    let directory: TemporaryDirectory
    let time = ManualTime()
    private let inbox = TransferInbox()
    private let ended = Gate()

    init(
        directory: TemporaryDirectory? = nil,
        configure: (inout TransferEngineConfiguration) -> Void = { _ in },
        prepare: @escaping @Sendable (TransferEngine) -> Void = { _ in }
    ) throws {
        self.directory = try directory ?? TemporaryDirectory()
        var configuration = TransferEngineConfiguration(directory: self.directory.path(of: "transfers"))
        configuration.time = time
        configure(&configuration)
        let settings = configuration
        Thread.start(name: "engine") { [inbox, ended] in
            if let engine = try? TransferEngine(settings, inbox: inbox) {
                prepare(engine)
                engine.run()
            }
            ended.open()
        }
    }

    deinit { inbox.post { $0.stop() } }

    /// Advances the clock, and returns after the engine has looked at it.
    func advance(by duration: Duration) async {
        time.advance(by: duration)
        // The second call is of the next turn of the loop.
        for _ in 0..<2 { await call { _ in } }
    }

    /// Calls a function on the engine's thread, and returns its result.
    func call<Result: Sendable>(_ body: @escaping @Sendable (TransferEngine) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            inbox.post { continuation.resume(returning: body($0)) }
        }
    }

    /// Ends the engine, and returns when its directory can be opened again.
    func stop() async {
        inbox.post { $0.stop() }
        await ended.wait()
    }

    /// Performs a command of an application.
    @discardableResult
    func perform(
        _ command: TransferCommand,
        of application: String,
        files: [UploadFile] = []
    ) async -> TransferReply {
        await withCheckedContinuation { continuation in
            inbox.post { engine in
                engine.perform(command, of: application, files: files) { reply in
                    continuation.resume(returning: reply)
                }
            }
        }
    }

    /// Opens the session "s" of an application, adds downloads to it, and returns its log.
    func download(_ urls: [String], as application: String) async -> EventLog {
        await perform(.openSession(TransferSessionConfiguration(identifier: "s")), of: application)
        let log = EventLog()
        await call { $0.delivery.observe("s", of: application, handler: log.record) }
        if !urls.isEmpty {
            await perform(.add(urls.map { TransferRequest(download: $0) }, session: "s"), of: application)
        }
        return log
    }

    /// Returns the transfers of an application.
    func transfers(of application: String) async -> [TransferStatus] {
        let reply = await perform(.list(session: nil, after: TransferIdentifier(0)), of: application)
        if case .transfers(let transfers, _) = reply { return transfers }
        return []
    }
}
