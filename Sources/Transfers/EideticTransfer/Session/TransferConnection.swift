package import EideticCore

/// A transfer service, and the knowledge of whether it can still be reached.
package final class TransferConnection: Sendable {
    private struct State {
        var isLost = false
        var handler: (@Sendable () -> Void)?
    }

    package let service: any TransferService
    private let closeService: @Sendable () -> Void
    private let state = Guarded(State())

    /// Creates the connection to a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - close: Ends the connection.
    package init(service: any TransferService, close: @escaping @Sendable () -> Void = {}) {
        self.service = service
        closeService = close
    }

    /// Creates the connection to a transfer process at the other end of a socket.
    package convenience init(
        socket: PacketSocket,
        application: String,
        secret: [UInt8] = []
    ) throws(EideticError) {
        let loss = LossRelay()
        let client = try TransferClient(socket: socket, application: application, secret: secret) { loss.markLost() }
        self.init(service: client) { client.close() }
        loss.connect(to: self)
    }

    /// Ends the connection.
    package func close() { closeService() }

    /// A Boolean value indicating whether the service cannot be reached any more.
    package var isLost: Bool { state.withLock { $0.isLost } }

    /// Sets the function that is called once when the connection is lost, at once if it is.
    package func onLoss(_ handler: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            state.handler = handler
            return state.isLost
        }
        if isLost { handler() }
    }

    /// Records that the service cannot be reached any more.
    package func markLost() {
        let handler = state.withLock { state in
            defer {
                state.isLost = true
                state.handler = nil
            }
            return state.isLost ? nil : state.handler
        }
        handler?()
    }
}

/// A way to a transfer service.
package protocol TransferServiceProvider: Sendable {
    /// Connects to the service of an application, and starts it if it does not run.
    ///
    /// - Throws: `connectionLost` and `connectionRefused` if another attempt may succeed; any other error is final.
    func connect() async throws(EideticError) -> TransferConnection
}

/// Passes the loss of a connection on, which may come before the connection object is there.
private final class LossRelay: Sendable {
    private let state = Guarded<(connection: TransferConnection?, isLost: Bool)>((nil, false))

    func connect(to connection: TransferConnection) {
        let isLost = state.withLock { state in
            if !state.isLost { state.connection = connection }
            return state.isLost
        }
        if isLost { connection.markLost() }
    }

    func markLost() {
        let connection = state.withLock { state in
            state.isLost = true
            // Otherwise the connection, its client and this relay would hold each other, and the socket, for ever.
            defer { state.connection = nil }
            return state.connection
        }
        connection?.markLost()
    }
}
