#if GTK
import Eidetic

/// What was asked for on the command line.
struct GalleryOptions {
    static let usage = """
        usage: Gallery [--dark] [--cache DIRECTORY] [--report] SOURCE…
        SOURCE is a picture's URL, a directory, the URL of a directory's index (with a slash at its end),
        or @FILE with a URL in each line.
        """

    var sources: [String] = []
    var isDark = false
    var cacheDirectory = DiskCache.defaultDirectory(namespace: "gallery")
    /// Whether standard output is told when all that can be seen is there.
    var reports = false

    init?(_ arguments: some Sequence<String>) {
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            switch argument {
            case "--dark": isDark = true
            case "--report": reports = true
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
