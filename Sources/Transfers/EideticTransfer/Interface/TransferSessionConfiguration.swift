/// The settings of a session, which apply to all its transfers.
package struct TransferSessionConfiguration: Sendable, Hashable {
    /// The identifier, by which the session is found again: 1 to 255 bytes.
    package var identifier: String
    /// A Boolean value indicating whether the application is launched when the last transfer has ended; `true` by
    /// default.
    package var sendsLaunchEvents = true
    /// A Boolean value indicating whether transfers wait for external power, an unmetered network and an idle machine,
    /// for at most 24 hours; `false` by default.
    package var isDiscretionary = false
    /// The longest time without a byte, after which a connection is closed and the transfer attempted again; 60 seconds
    /// by default.
    package var requestTimeout: Duration = .seconds(60)
    /// The longest time from adding a transfer to its end, after which it fails; 7 days by default.
    package var resourceTimeout: Duration = .seconds(7 * 86_400)
    /// A Boolean value indicating whether cookies are sent and stored, for each application apart; `true` by default.
    package var usesCookies = true
    /// A Boolean value indicating whether a response with status 429 or 503 is no result: the transfer is attempted
    /// again after the delay of `Retry-After`, or of a transport failure; `false` by default.
    package var retriesUnavailable = false
    /// A Boolean value indicating whether a redirect may lead from a public address to a private one; `false` by
    /// default.
    package var allowsPrivateRedirects = false

    /// The largest number of connections of the session to one host; 6 by default.
    ///
    /// All applications together have at most 6.
    package var connectionsPerHost = TransferLimits.connectionsPerHost
}

extension TransferSessionConfiguration {
    package init(identifier: String) { self.init(identifier: identifier, sendsLaunchEvents: true) }
}
