internal import EideticLifecycle

/// A kind of background work that an application declares.
///
/// The raw value is the word in the key `X-Eidetic-BackgroundModes` of a desktop entry.
public enum BackgroundMode: String, Sendable, Hashable, CaseIterable {
    /// The application runs while it plays or records sound.
    case audio
    /// The application is woken for a change of location.
    case location
    /// The application is woken when data arrives on a socket that it handed to the supervisor.
    case voip
    /// The application is woken from time to time to load new content.
    case fetch
    /// The application is woken for a silent push message.
    case remoteNotification = "remote-notification"
    /// The application is woken for long work while the machine is idle.
    case processing
    /// The application is woken when the transfers of a background session have ended.
    case transfers
    /// The application continues work that the user has started.
    case continued

    var mode: DeclaredMode? { DeclaredMode(rawValue: rawValue) }
}
