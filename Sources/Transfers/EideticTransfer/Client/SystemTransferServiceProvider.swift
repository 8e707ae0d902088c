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
    ) async throws(EideticError) -> TransferConnection? {
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
        return try TransferConnection(socket: found.socket, application: application, secret: found.secret)
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

/// The services that perform transfers in this process, one for each directory.
private actor LocalServices {
    static let shared = LocalServices()

    private struct Reference {
        weak var service: LocalTransferService?
        let ended: Promise<Void>
    }

    private var opening: [String: Task<Result<LocalTransferService, EideticError>, Never>] = [:]
    private var references: [String: Reference] = [:]

    /// Returns the service of a directory, which is opened if no session of this process uses it.
    func service(at directory: String, for application: String) async throws(EideticError) -> LocalTransferService {
        if let service = references[directory]?.service { return service }
        let task =
            opening[directory]
            ?? Task { [ended = references[directory]?.ended] in
                // The thread of a service that was released has the directory until it ends.
                _ = try? await ended?.value()
                return await Self.open(directory, for: application)
            }
        opening[directory] = task
        let result = await task.value
        opening[directory] = nil
        let service = try result.get()
        references[directory] = Reference(service: service, ended: service.ended)
        return service
    }

    private static func open(
        _ directory: String,
        for application: String
    ) async -> Result<LocalTransferService, EideticError> {
        do throws(EideticError) {
            return .success(
                try await .open(TransferEngineConfiguration(directory: directory), application: application)
            )
        } catch {
            return .failure(error)
        }
    }
}

/// The way to the transfer process of this user, or to transfers in this process where there is none.
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

    func connect() async throws(EideticError) -> TransferConnection {
        if lock.withLock({ $0 == nil }) {
            let taken = try await TransferProcess.lock(configuration)
            lock.withLock { $0 = taken }
        }
        let connection = try await TransferProcess.connect(
            at: configuration.service,
            application: configuration.application
        )
        if let connection { return connection }
        return try await connectLocally()
    }

    private func connectLocally() async throws(EideticError) -> TransferConnection {
        guard let directory = configuration.service.directory else {
            throw EideticError(.notFound, message: "there is no directory for transfers: HOME is not set")
        }
        let application = configuration.application
        // Each application has its own: a directory belongs to one process.
        let service = try await LocalServices.shared.service(
            at: "\(directory)-in-process/\(application)",
            for: application
        )
        return TransferConnection(service: service)
    }
}
