import EideticCLI
import EideticCore
import EideticStore

#if Redis
import EideticRedis
#endif

/// The option `--shared`, the tier that several machines share.
enum SharedOption {
    static let url = TypedOption<String>(
        "shared",
        placeholder: "URL",
        expecting: "a URL such as redis://host:6379 or unix:///run/redis/redis.sock",
        help: "the Redis or Valkey server that several machines share, such as redis://host:6379",
        parse: { $0.isEmpty ? nil : $0 }
    )

    /// The note in the help of commands that load.
    static let note =
        "--shared searches a Redis or Valkey server (redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], several hosts of a "
        + "cluster separated by commas, or unix:///PATH; redis+unix:// is the same) after the disk cache, and stores "
        + "responses there that may be shared. If the server does not respond, loads are slower but do not fail."

    #if Redis
    /// Returns the tier of a command line; `nil` without the option.
    ///
    /// - Throws: `invalidURL`, `invalidArgument`, or `tlsFailure` for `rediss`.
    static func makeTier(from arguments: Arguments) throws(EideticError) -> RedisTier? {
        guard let url = arguments[url] else { return nil }
        return try RedisTier(RedisTier.Configuration(url: url))
    }
    #else
    /// Throws `refused` for a command line with the option: this build has no tier.
    static func makeTier(from arguments: Arguments) throws(EideticError) -> (any SharedTier)? {
        if arguments[url] == nil { return nil }
        throw EideticError(.refused, message: "--shared: this build has no hiredis; build it with the trait Redis")
    }
    #endif
}
