#if GTK
public import Eidetic
public import EideticViews
public import EideticCore

extension ImageWidget {
    /// Loads an image, shows it, and returns after that.
    ///
    /// The parameters are those of `setImage`.
    ///
    /// - Returns: The response with the image.
    /// - Throws: The error of the load; `cancelled` if the task is cancelled, the widget is destroyed, or another image
    ///   is set into it.
    @discardableResult
    public func show(
        _ request: ImageRequest,
        for part: Part = .normal,
        presentation: ImageSlot.Presentation = .init(),
        progress: (@MainActor (LoadProgress) -> Void)? = nil
    ) async throws(EideticError) -> ImageResponse {
        let load = AsyncLoad()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                load.hasStarted = true
                setImage(
                    request,
                    for: part,
                    presentation: presentation,
                    completion: { result in
                        load.isFinished = true
                        continuation.resume(returning: result)
                    },
                    progress: progress
                )
                load.slot = state.existingSlot(for: part)
                load.generation = load.slot?.generation ?? 0
                if Task.isCancelled { load.cancel() }
            }
        } onCancel: {
            Task { @MainActor in load.cancel() }
        }
        return try result.get()
    }
}

/// The load that an asynchronous call started.
@MainActor
private final class AsyncLoad {
    weak var slot: WidgetSlot?
    var generation: UInt64 = 0
    var hasStarted = false
    var isFinished = false

    /// Cancels the load, unless it has finished or was replaced by another.
    func cancel() {
        guard hasStarted, !isFinished, let slot, slot.generation == generation else { return }
        slot.cancel()
    }
}
#endif
