// `import EideticViews` is enough for a program that shows images in views of its own.
@_exported public import Eidetic
