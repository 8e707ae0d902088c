#if GTK
import Eidetic
import EideticViews
import EideticCore

/// One load into a part of a widget: its presentation and its callbacks.
struct WidgetLoad {
    typealias Progress = @MainActor (LoadProgress) -> Void
    typealias Completion = @MainActor (Result<ImageResponse, EideticError>) -> Void

    let part: ImageWidget.Part
    var presentation: ImageSlot.Presentation
    var progress: Progress?
    var completion: Completion?
}
#endif
