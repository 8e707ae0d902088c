#if Redis
/// Scripts that change one key only if it still has the value that the caller knows.
enum RedisScript {
    /// The value of a lease that is not needed.
    static let waiver = "-"

    /// Removes a value if its start, up to the limit, is the given one.
    static let removeEqual = """
        if redis.call('GETRANGE', KEYS[1], 0, tonumber(ARGV[2])) == ARGV[1] then return redis.call('UNLINK', KEYS[1]) end \
        return 0
        """

    /// Sets the time after which a lease with the given token expires.
    static let renew = """
        if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0
        """

    /// Removes a lease with the given token.
    static let release = """
        if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0
        """

    /// Replaces a lease with the given token by the mark that none is needed.
    static let waive = """
        if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], '\(waiver)', 'PX', ARGV[2]) end return 0
        """
}
#endif
