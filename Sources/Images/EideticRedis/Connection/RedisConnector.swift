#if Redis
import EideticCore
import Glibc

/// The settings of new connections.
struct RedisConnector: Sendable {
    private let user: String?
    private let password: String?
    private let database: Int
    private let timeout: Duration

    init(_ configuration: RedisTier.Configuration) {
        user = configuration.user
        password = configuration.password
        database = configuration.database
        timeout = configuration.timeout
    }

    /// Connects to a server on a thread of its own, because the resolution of a host name may take long.
    func connect(
        to server: RedisServer,
        completion: @escaping @Sendable (Result<HiredisConnection, EideticError>) -> Void
    ) {
        Thread.start(name: "eidetic-redis+") {
            blockBrokenPipe()
            do throws(EideticError) {
                completion(.success(try open(server)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Connects, authenticates and selects the database; blocks.
    private func open(_ server: RedisServer) throws(EideticError) -> HiredisConnection {
        let connection = try HiredisConnection(to: server, timeout: timeout)
        if let password {
            let access = [user, password].compactMap(\.self)
            _ = try connection.reply(to: RedisCommand((["AUTH"] + access).map { Array($0.utf8) }))
        }
        if database != 0 { _ = try connection.reply(to: RedisCommand("SELECT", "\(database)")) }
        // A server that accepts connections may still not respond.
        _ = try connection.reply(to: RedisCommand("PING"))
        try connection.endBlocking()
        return connection
    }
}

/// Blocks SIGPIPE for the calling thread: hiredis writes with `write`, which would end the process.
func blockBrokenPipe() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
#endif
