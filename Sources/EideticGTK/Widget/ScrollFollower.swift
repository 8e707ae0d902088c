#if GTK
internal import CGTK
public import Eidetic

/// Lets loads of low priority wait while the user scrolls (L22).
@MainActor
public final class ScrollFollower {
    private let pipeline: ImagePipeline
    private var timer: UInt32 = 0
    /// Scrolled windows that move now; several may share a pipeline.
    private static var moving: [ObjectIdentifier: Int] = [:]

    /// How long nothing must have moved until scrolling is over, in milliseconds.
    private static let rest: UInt32 = 150

    /// Follows a `GtkScrolledWindow` as long as that lives.
    ///
    /// What waits goes on 150 milliseconds after the last movement.
    public static func follow(_ scrolledWindow: OpaquePointer, pipeline: ImagePipeline = .shared) {
        let follower = ScrollFollower(pipeline)
        let adjustments = [
            gtk_scrolled_window_get_vadjustment(scrolledWindow), gtk_scrolled_window_get_hadjustment(scrolledWindow),
        ]
        for case let adjustment? in adjustments {
            Signal.connect(UnsafeMutableRawPointer(adjustment), "value-changed") { _ in follower.move() }
        }
    }

    private init(_ pipeline: ImagePipeline) { self.pipeline = pipeline }

    private func move() {
        if timer != 0 {
            g_source_remove(timer)
        } else {
            Self.moving[ObjectIdentifier(pipeline), default: 0] += 1
            pipeline.isUserInteracting = true
        }
        let kept = Unmanaged.passRetained(self).toOpaque()
        timer = g_timeout_add_full(
            G_PRIORITY_DEFAULT,
            Self.rest,
            { follower in
                onMainThread(follower) { follower in
                    if let follower { Unmanaged<ScrollFollower>.fromOpaque(follower).takeUnretainedValue().stop() }
                }
                return 0
            },
            kept,
            { follower in if let follower { Unmanaged<ScrollFollower>.fromOpaque(follower).release() } }
        )
    }

    private func stop() {
        timer = 0
        let left = Self.moving[ObjectIdentifier(pipeline), default: 1] - 1
        Self.moving[ObjectIdentifier(pipeline)] = left > 0 ? left : nil
        pipeline.isUserInteracting = left > 0
    }
}
#endif
