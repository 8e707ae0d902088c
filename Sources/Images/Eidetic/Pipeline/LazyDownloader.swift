import EideticCore
import EideticFetch

/// A downloader that is created on first use, because each has a thread of its own.
final class LazyDownloader: Sendable {
    let configuration: Downloader.Configuration
    private let existing: Guarded<Downloader?>

    init(_ configuration: Downloader.Configuration) {
        self.configuration = configuration
        existing = Guarded(nil)
    }

    init(_ downloader: Downloader) {
        configuration = downloader.configuration
        existing = Guarded(downloader)
    }

    var downloader: Downloader {
        existing.withLock { existing in
            let downloader = existing ?? Downloader(configuration)
            existing = downloader
            return downloader
        }
    }
}
