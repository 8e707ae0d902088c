package import EideticCore
import Glibc

/// The transfer process.
package enum TransferDaemon {
    /// Serves the sockets of the options until the process is idle, or receives SIGTERM or SIGINT.
    ///
    /// - Throws: `refused` if another process has the directory, or the kernel refuses the sandbox; an error of the
    ///   file system.
    package static func run(_ options: ServiceOptions) throws(EideticError) {
        do throws(EideticError) { try serve(options) } catch {
            var refusal = Refusal(options, because: error)
            refusal.perform()
            throw error
        }
    }

    private static func serve(_ options: ServiceOptions) throws(EideticError) {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        do throws(SystemError) {
            try FileSystem().makeDirectories(options.directory)
        } catch {
            throw EideticError(error)
        }
        // Before the process that has the directory is ended: it may be the only one that can read it.
        try TransferStore.checkVersion(of: options.directory)
        // A sandbox forbids signals to others.
        if options.replacesOther { try EngineLock.endOwner(of: options.directory) }
        let code = CodePages()
        if options.isSandboxed { try Sandbox.enter(options) }
        var configuration = TransferEngineConfiguration(directory: options.directory)
        configuration.isReplaceable = true
        configuration.connections = options.connections
        let inbox = TransferInbox()
        stopOnSignals(inbox)
        let engine = try TransferEngine(configuration, inbox: inbox)
        let server = TransferServer(
            listeners: options.listeners,
            supervisor: options.supervisor,
            idleLimit: options.idleLimit,
            releaseCode: code.release
        )
        code.release()
        server.run(engine)
    }

    /// Stops the engine in an orderly way on SIGTERM and SIGINT, which a thread waits for.
    private static func stopOnSignals(_ inbox: TransferInbox) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        let waited = signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Thread.start(name: "signals") {
            var set: sigset_t = waited
            var number: Int32 = 0
            while sigwait(&set, &number) != 0 {}
            inbox.post { $0.stop() }
        }
    }
}
