// Makes the charts of a page answer. Each stands in its place already, as a picture: <div class="chart" data-figure="N">.

import "./style.css";
import { enliven } from "./enliven";
import { figures } from "./figure";
import { follow } from "./scroll";

const list = figures();
for (const place of document.querySelectorAll<HTMLElement>(".chart[data-figure]")) {
  const figure = list[Number(place.dataset["figure"])];
  if (figure) enliven(figure, place);
}
follow(document.querySelectorAll<HTMLElement>(".scroll"));
document.documentElement.classList.add("live");
