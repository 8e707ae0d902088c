#if GTK
internal import CGTK
public import Eidetic

/// An observer of a scrolled window that delays loads of low priority while the user scrolls.
@MainActor
public final class ScrollObserver {
    private let ownPipeline: ImagePipeline?
    /// The pipeline whose loads are delayed now; `nil` unless the user scrolls.
    private var delayedPipeline: ImagePipeline?
    private var timer: UInt32 = 0
    /// The number of scrolled windows that move now, for each pipeline.
    private static var scrollingCounts: [ObjectIdentifier: Int] = [:]

    /// The time without movement after which scrolling has ended, in milliseconds as GLib takes it.
    private static let settleTime: UInt32 = 150

    /// Observes a scrolled window as long as it exists.
    ///
    /// Delayed loads resume 150 milliseconds after the last movement.
    ///
    /// - Parameters:
    ///   - scrolledWindow: A `GtkScrolledWindow`.
    ///   - pipeline: The pipeline whose loads are delayed; `nil`, the default, for the shared one.
    public static func observe(_ scrolledWindow: OpaquePointer, pipeline: ImagePipeline? = nil) {
        let observer = ScrollObserver(pipeline: pipeline)
        let adjustments = [
            gtk_scrolled_window_get_vadjustment(scrolledWindow), gtk_scrolled_window_get_hadjustment(scrolledWindow),
        ]
        for case let adjustment? in adjustments {
            Signal.connect(UnsafeMutableRawPointer(adjustment), signal: "value-changed") { _ in
                observer.positionChanged()
            }
        }
    }

    private init(pipeline: ImagePipeline?) { ownPipeline = pipeline }

    private func positionChanged() {
        if timer != 0 {
            g_source_remove(timer)
        } else {
            let pipeline = ownPipeline ?? .shared
            delayedPipeline = pipeline
            Self.scrollingCounts[ObjectIdentifier(pipeline), default: 0] += 1
            pipeline.isUserInteracting = true
        }
        startTimer()
    }

    private func startTimer() {
        timer = g_timeout_add_full(
            G_PRIORITY_DEFAULT,
            Self.settleTime,
            { observer in
                MainActor.runCallback(with: observer) { observer in
                    guard let observer else { return }
                    Unmanaged<ScrollObserver>.fromOpaque(observer).takeUnretainedValue().scrollingEnded()
                }
                return 0
            },
            Unmanaged.passRetained(self).toOpaque(),
            { observer in if let observer { Unmanaged<ScrollObserver>.fromOpaque(observer).release() } }
        )
    }

    private func scrollingEnded() {
        timer = 0
        guard let pipeline = delayedPipeline else { return }
        delayedPipeline = nil
        let remaining = Self.scrollingCounts[ObjectIdentifier(pipeline), default: 1] - 1
        Self.scrollingCounts[ObjectIdentifier(pipeline)] = remaining > 0 ? remaining : nil
        pipeline.isUserInteracting = remaining > 0
    }
}
#endif
