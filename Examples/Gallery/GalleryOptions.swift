#if GTK
import Eidetic

/// The options of the command line.
struct GalleryOptions {
    static let usage = """
        usage: Gallery [--dark] [--cache DIRECTORY] [--report] SOURCE…
        SOURCE is an image's URL, a directory, the URL of a directory's index (with a slash at its end),
        or @FILE with a URL in each line.
        """

    var sources: [String] = []
    var isDark = false
    var cacheDirectory = DiskCache.defaultDirectory(namespace: "gallery")
    /// A Boolean value indicating whether the progress is printed to standard output.
    var reportsProgress = false

    init?(arguments: some Sequence<String>) {
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            switch argument {
            case "--dark": isDark = true
            case "--report": reportsProgress = true
            case "--cache":
                guard let directory = iterator.next() else { return nil }
                cacheDirectory = directory
            case _ where argument.hasPrefix("--"): return nil
            default: sources.append(argument)
            }
        }
        if sources.isEmpty { return nil }
    }
}
#endif
