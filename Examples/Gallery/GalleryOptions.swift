#if GTK
import Eidetic
import Glibc

/// The options of the command line.
struct GalleryOptions {
    static let usage = """
        usage: Gallery [--dark] [--cache DIRECTORY] [--background-time SECONDS] [--report] SOURCE…
        SECONDS is the time for which images load on while the window is minimised, 5 to 600, 30 by default; what is
        missing then is downloaded by eidetic-transferd, and shown at the next start.
        SOURCE is an image's URL, a directory, the URL of a directory's index (with a slash at its end),
        or @FILE with a URL in each line.
        """

    var sources: [String] = []
    var isDark = false
    var cacheDirectory = DiskCache.defaultDirectory(namespace: "gallery")
    /// The time for which images load on in the background.
    var backgroundTime = Duration.seconds(30)
    /// A Boolean value indicating whether the progress is printed to standard output.
    var reportsProgress = false

    private var isSupervised: Bool { getenv("EIDETIC_SUPERVISOR") != nil }

    init?(arguments: some Sequence<String>) {
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            switch argument {
            case "--dark": isDark = true
            case "--report": reportsProgress = true
            case "--cache":
                guard let directory = iterator.next() else { return nil }
                cacheDirectory = directory
            case "--background-time":
                guard let seconds = iterator.next().flatMap(Int.init), 5...600 ~= seconds else { return nil }
                backgroundTime = .seconds(seconds)
            case _ where argument.hasPrefix("--"): return nil
            default: sources.append(argument)
            }
        }
        // The supervisor launches it without any: they follow as URLs, or from the saved state.
        if sources.isEmpty, !isSupervised { return nil }
    }
}
#endif
