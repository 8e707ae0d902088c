package import EideticCore
import Glibc

/// The transfer process of this user.
package enum TransferProcess {
    private static let pool = WorkPool(name: "eidetic service", maximumThreadCount: 4)

    /// Connects to the transfer process, and starts it if it does not run.
    ///
    /// - Parameters:
    ///   - location: The places by which it is found.
    ///   - application: The name of the application.
    /// - Returns: The connection; `nil` if it does not run, and its program is not installed.
    /// - Throws: `connectionRefused` if another attempt may succeed; an error of the system.
    package static func connect(
        at location: ServiceLocation,
        application: String
    ) async throws(EideticError) -> TransferClient? {
        let found = try await pool.run { _ throws(EideticError) -> (socket: PacketSocket, secret: [UInt8])? in
            do throws(SystemError) {
                guard let socket = try ServiceStarter(location: location).connect() else { return nil }
                return (socket, try ApplicationSecret(at: location)?.load(for: application) ?? [])
            } catch {
                guard [EAGAIN, ECONNREFUSED, ENOENT].contains(error.errorNumber), error.call != .spawn else {
                    throw EideticError(error)
                }
                throw EideticError(
                    .connectionRefused,
                    message: error.description,
                    systemErrorNumber: error.errorNumber
                )
            }
        }
        guard let found else { return nil }
        return try TransferClient(socket: found.socket, application: application, secret: found.secret)
    }

    /// Takes the right to use a session.
    static func lock(_ configuration: BackgroundURLSession.Configuration) async throws(EideticError) -> SessionLock {
        try await pool.run { _ throws(EideticError) in
            try SessionLock(
                configuration.identifier,
                application: configuration.application,
                location: configuration.service
            )
        }
    }
}

/// The way to the transfer process of this user.
final class SystemTransferServiceProvider: TransferServiceProvider {
    private let configuration: BackgroundURLSession.Configuration
    private let lock = Guarded<SessionLock?>(nil)

    init(configuration: BackgroundURLSession.Configuration) { self.configuration = configuration }

    /// Releases the lock of the session.
    func releaseSession() {
        let taken = lock.withLock { lock in
            defer { lock = nil }
            return lock
        }
        withExtendedLifetime(taken) {}
    }

    func connect() async throws(EideticError) -> TransferClient {
        if lock.withLock({ $0 == nil }) {
            let taken = try await TransferProcess.lock(configuration)
            lock.withLock { $0 = taken }
        }
        let connection = try await TransferProcess.connect(
            at: configuration.service,
            application: configuration.application
        )
        if let connection { return connection }
        throw EideticError(
            .notFound,
            message: "the transfer process does not run, and its program eidetic-transferd (package "
                + "eidetic-background) is not installed: neither beside this program, nor in ../libexec, PATH, /usr/local/libexec or "
                + "/usr/libexec"
        )
    }
}
