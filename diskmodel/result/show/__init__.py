"""A result on a screen and in a notebook."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.result.show.heat_map import STYLE, draw_heat_maps, heat_map_page, heat_map_script
    from diskmodel.result.show.iostat import iostat_text
    from diskmodel.result.show.loads import loads_table
    from diskmodel.result.show.remarks import Remark, few
    from diskmodel.result.show.table import answer_table, width_words
    from diskmodel.result.show.timeline import draw_timelines

__getattr__ = face(
    __name__,
    {
        "heat_map": "STYLE draw_heat_maps heat_map_page heat_map_script",
        "iostat": "iostat_text",
        "loads": "loads_table",
        "remarks": "Remark few",
        "table": "answer_table width_words",
        "timeline": "draw_timelines",
    },
)
